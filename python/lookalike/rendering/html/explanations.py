"""Sentences about the score of a pair that its two shares do not explain. Cost: one pass over the passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lookalike.comparison.result import Entry, Pair
from lookalike.rendering.wording import decimal, percent

#: A score this far from both shares is explained.
FAR = 0.1
#: Least part of the shared material that a reason is given for.
WORTH = 0.005


def among(is_asked: bool) -> str:
    """Return where something is rare or usual; a document that an archive was asked about is in no class."""
    return "among the compared documents" if is_asked else "in this class"


def explained(pair: Pair, entries: Sequence[Entry], unit: str, *, is_asked: bool = False) -> Iterator[str]:
    """Yield a sentence for each reason; ``unit`` is what the material is counted in: "tokens" or "letters"."""
    where = among(is_asked)
    shares = pair.left_coverage, pair.right_coverage
    shared = f"{percent(shares[0])} of the left and {percent(shares[1])} of the right are shared"
    told = f"The score is {decimal(pair.score)} although {shared}"
    if min(shares) - pair.score >= FAR:
        yield f"{told}: {_lighter(pair, unit, where)}."
    elif pair.score - max(shares) >= FAR and not leaves_out(pair):
        yield f"{told}: {_heavier(pair, entries, where)}."
    if leaves_out(pair):
        idle = " and ".join(f"{entries[end].unreachable_tokens:,}" for end in (pair.left, pair.right))
        yield (
            f"The score leaves out code that cannot run: {idle} tokens, grey and dotted below. "
            f"With this code the score is {decimal(pair.score_whole)}."
        )


def leaves_out(pair: Pair) -> bool:
    """Return whether the score leaves out code that cannot run."""
    return pair.score_reachable is not None and pair.score_reachable > pair.score_whole


def _lighter(pair: Pair, unit: str, where: str) -> str:
    """Return why the shared material weighs less than the rest."""
    runs = [passage for passage in pair.passages if passage.sort == "run"]
    tokens = max(1, sum(passage.tokens for passage in runs))
    renamed = sum(passage.tokens * (1 - passage.same_text) for passage in runs) / tokens
    common = sum(passage.tokens for passage in runs if passage.shared_by > 2) / tokens
    reasons = []
    if renamed >= WORTH:
        reasons.append(f"{percent(renamed)} of the shared {unit} have other names or values, and count 70 %")
    if common >= WORTH:
        others = "are in passages that other submitters have too, and weigh less"
        reasons.append(f"{percent(common)} {others}" if reasons else f"{percent(common)} of the shared {unit} {others}")
    return "; ".join(reasons) or f"parts of what they share are common {where}, and weigh less"


def _heavier(pair: Pair, entries: Sequence[Entry], where: str) -> str:
    """Return why the shared material weighs more than the rest."""
    languages = {file.language for end in (pair.left, pair.right) for file in entries[end].files}
    read = {language for both in languages for language in both.split("+")}
    if "text" in read and len(read) > 1:
        return "a letter of prose weighs less than a token of code, and the rarer something is, the more it weighs"
    return f"the rest is more common {where} than what they share, and weighs less"
