"""What is mutated, which tests cover it, and which survivors change nothing that anybody could see."""

from __future__ import annotations

from typing import NamedTuple


class Python(NamedTuple):
    """A module that mutmut changes."""

    #: Below ``python``.
    path: str
    tests: tuple[str, ...]
    #: Survivors that no test can tell from the original, by the line they make; with the reason.
    equivalent: dict[str, str] = {}  # noqa: RUF012


class Rust(NamedTuple):
    """A file that cargo-mutants changes."""

    path: str
    #: Tests that cover it, as arguments of the test program: the beginnings of their names.
    tests: tuple[str, ...]
    #: Survivors that no test can tell from the original, by the name cargo-mutants gives them; with the reason.
    equivalent: dict[str, str] = {}  # noqa: RUF012


class Named(NamedTuple):
    """A change that once went unnoticed."""

    what: str
    #: Below ``python``.
    path: str
    old: str
    new: str
    test: str


_SAME_CODEC = "another spelling of the same encoding"
_SAME_COPY = "the bytes are the same in pieces of any size"
_SAME_MAGIC = "no format needs more than eight bytes to be known"
_SAME_NUMBERS = "drafts are numbered; any different numbers do"
_NO_STAGE = "there is no draft, so nothing was written: a folder that is not there has no size"
_WINDOWS = "only Windows comes here"

PYTHON = {
    "params": Python(
        "lookalike/params/fingerprinting.py",
        ("tests/test_params.py",),
        {
            f"window = max(chosen_t - chosen_k + 1, {least}) if chosen_k {sign} chosen_t <= _core.MAX_T else {other}": (
                "windows of one and of two k-grams have the same modulus"
            )
            for least, sign, other in (("2", "<=", "1"), ("1", "<", "1"), ("1", "<=", "2"))
        },
    ),
    "ledger": Python(
        "lookalike/corpora/ledger.py",
        ("tests/corpora/test_ledger.py",),
        {
            'return {"data": data.decode("UTF-8")}': _SAME_CODEC,
            'return {"base64": base64.b64encode(data).decode("ASCII")}': _SAME_CODEC,
            'return entry["data"].encode("UTF-8") if "data" in entry else '
            'base64.b64decode(entry["base64"], validate=True)': _SAME_CODEC,
            'return text.encode("UTF-8") + b"\\n"': _SAME_CODEC,
            'return json.dumps(value, separators=(",", ":")).encode("ASCII") + b"\\n"': _SAME_CODEC,
            'text = json.dumps(value, ensure_ascii=None, separators=(",", ":"))': "`None` is as false as `False`",
            "shutil.copyfileobj(entries, stream, None)": _SAME_COPY,
            "shutil.copyfileobj(entries, stream, )": _SAME_COPY,
            'self.header = self._parsed(next(self._lines, b"XXXX"))': "neither is JSON, so both are refused alike",
            'value = ""': "neither is an object, so both are refused alike",
            "format = by_content(file.read(None))": _SAME_MAGIC,
            "format = by_content(file.read(9))": _SAME_MAGIC,
        },
    ),
    "staging": Python(
        "lookalike/corpora/staging.py",
        ("tests/corpora/test_staging.py",),
        {
            "def __init__(self, *, overwrite: bool = False, inputs: Iterable[str] = (), expected_bytes: int = 1) "
            "-> None:": "at least one byte is always needed",
            "self._made = 1": _SAME_NUMBERS,
            "self._made -= 1": _SAME_NUMBERS,
            "self._made += 2": _SAME_NUMBERS,
            'parent, (stage, _) = next(iter(self._stages.items()), ("", ("XXXX", -1)))': _NO_STAGE,
            'parent, (stage, _) = next(iter(self._stages.items()), ("", ("", +1)))': _NO_STAGE,
            'parent, (stage, _) = next(iter(self._stages.items()), ("", ("", -2)))': _NO_STAGE,
            "written = _size(stage) if (stage) or True else 0": _NO_STAGE,
            'if os.name == "XXntXX" and os.path.isdir(path):': _WINDOWS,
            'if os.name == "NT" and os.path.isdir(path):': _WINDOWS,
            'if os.name == "nt" and os.path.isdir(None):': _WINDOWS,
        },
    ),
}
RUST = {
    "score.rs": Rust("crates/core/src/matching/score.rs", ("matching::", "--skip", "guarantee")),
    "estimate.rs": Rust("crates/core/src/sketch/estimate.rs", ("sketch::estimate",)),
    "design.rs": Rust("crates/core/src/hamming/design.rs", ("hamming::design",)),
}
NAMED = [
    Named(
        "dedup asks for a recall of 0.99",
        "lookalike/params/sketching.py",
        "default=0.995",
        "default=0.99",
        "tests/deduplication/test_dedup_settings.py",
    ),
    Named(
        "the promise names t for k",
        "lookalike/params/fingerprinting.py",
        "matches shorter than {self.k}",
        "matches shorter than {self.t}",
        "tests/test_params.py",
    ),
    Named(
        "the digest of a ledger is not checked",
        "lookalike/corpora/ledger.py",
        ' or self._digest.hexdigest() != self.header.get("digest")',
        "",
        "tests/corpora/test_ledger.py",
    ),
    Named(
        "the digest of a submission has no lengths",
        "lookalike/comparison/stored.py",
        'made.update(len(piece).to_bytes(8, "little"))',
        "pass",
        "tests/comparison/test_compare_digest.py",
    ),
    Named(
        "outputs are not synced",
        "lookalike/engines/writing.py",
        "O_RDONLY)\n    try:\n        os.fsync(handle)",
        "O_RDONLY)\n    try:\n        pass",
        "tests/corpora/test_staging.py",
    ),
    Named(
        "the table of keys takes four times the memory",
        "lookalike/deduplication/settings.py",
        "self.memory // 4",
        "self.memory * 4",
        "tests/deduplication/test_dedup_settings.py",
    ),
    Named(
        "a lone t does not lower k",
        "lookalike/params/fingerprinting.py",
        "min(usual_k, t) if t is not None and t >= 1 else usual_k",
        "usual_k",
        "tests/test_params.py",
    ),
    Named(
        "full-width signs of formulas are not guarded",
        "lookalike/params/comparison.py",
        "＝＋－＠",
        "",
        "tests/rendering/test_tables.py",
    ),
    Named(
        "a word of half the names is not masked",
        "lookalike/rendering/anonymous.py",
        "count * 2 > len(owners) > FEW",
        "count * 2 >= len(owners) > FEW",
        "tests/rendering/test_report_anonymous.py",
    ),
    Named(
        "three mixed words are no sign of a disguise",
        "lookalike/frontends/disguise.py",
        "mixed >= FEW",
        "mixed > FEW",
        "tests/frontends/test_disguise.py",
    ),
    Named(
        "the last page links to one that was left out",
        "lookalike/rendering/html/pages.py",
        "elif files < len(jobs):",
        "elif files < count:",
        "tests/rendering/test_report_lists.py",
    ),
]
