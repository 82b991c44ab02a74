"""Parameters of questions to an index (`lookalike query`, `lookalike seen`)."""

from __future__ import annotations

from lookalike import _core
from lookalike._types import Parameter
from lookalike.params.archiving import QUESTIONS
from lookalike.params.simhashing import DISTANCE

#: Every question about a document, in the order in which answers are shown.
ASKED = ("identical", *QUESTIONS)
#: The parameters of questions, by name.
ASKING = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "question",
            f"Ask only this: {', '.join(ASKED)}. Repeatable. Default: all that the index answers.",
            default=(),
            many=True,
            choices=ASKED,
        ),
        Parameter(
            "threshold",
            "Least resemblance and containment, more than 0 and at most 1. Default: the threshold of the index.",
            kind=float,
        ),
        DISTANCE,
        Parameter(
            "window",
            "Ask for passages with longer windows than the index has, in k-grams: fewer lookups, and every shared run "
            "of k + window - 1 tokens is found. Default: that of the index, t - k + 1.",
            kind=int,
            least=1,
            most=_core.MAX_T,
        ),
        Parameter("top", "Most documents to list for each question; 0 for all.", default=20, kind=int, least=0),
        Parameter(
            "where",
            "Only documents with this value in their metadata, as key=value: label, person, or a column of a row. "
            "A * at the end of the value stands for any rest, such as label=2024-*. "
            "Repeatable; all must hold.",
            default=(),
            many=True,
        ),
        Parameter("name", "File name of standard input, such as loans.py; it decides the language."),
    )
}
FAIL_IF_SEEN = Parameter("fail_if_seen", "Exit with code 1 if the answer is yes.", default=False, kind=bool)
