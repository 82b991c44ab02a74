"""Parameters of an index (`lookalike index`): which documents it holds and which questions it answers."""

from __future__ import annotations

from lookalike._types import Parameter

#: Questions that can be left out of an index; identical documents are always found.
QUESTIONS = ("passages", "resemblance", "containment", "distance")
#: k and t of a corpus, in characters (winnowing, §5.1, used 50 and a window of 100 on web pages).
CORPUS_THRESHOLDS = (50, 149)
#: The parameters that are fixed when an index is created, besides those of `compare` and `dedup`.
INDEXING = {
    parameter.name: parameter
    for parameter in (
        Parameter(
            "kind",
            "What the index holds. class: submissions of code and prose, with the thresholds of `compare`; corpus: "
            "rows of text, with passages of 149 characters or more.",
            choices=("class", "corpus"),
            default="class",
            flags=("--for",),
        ),
        Parameter(
            "without",
            f"Leave out a question, to save space: {', '.join(QUESTIONS)}. Repeatable.",
            default=(),
            many=True,
            choices=QUESTIONS,
        ),
        Parameter(
            "no_texts",
            "Do not keep the texts. Answers are then estimates, marked as unverified.",
            default=False,
            kind=bool,
        ),
        Parameter(
            "features_only",
            "Keep only features, id and content hash of each document: 48 bytes of features with --filter 6,14,2, the "
            "default here. The filter alone decides whether a document resembles another; nothing is verified.",
            default=False,
            kind=bool,
        ),
    )
}
#: How an index is opened for changes.
WAIT = Parameter(
    "wait", "Seconds to wait while another process changes the index.", default=0.0, kind=float, least=0, most=10**6
)
ALLOW_NETWORK_FS = Parameter(
    "allow_network_fs",
    "Change an index on a network file system. Locks may not work there: make sure that only one process does it.",
    default=False,
    kind=bool,
)
#: What `index add`, `remove` and `list` take besides.
LABEL = Parameter("label", "Put this in front of the names of submissions, such as 2025-hw3, and keep it with them.")
TIME_COLUMN = Parameter(
    "time_column",
    "Name of the column with the time of a row: seconds or milliseconds since 1970, a date such as 2024-01-31, or the "
    "date of a mail.",
)
EARLIER_RUN = Parameter(
    "earlier_run",
    "What became of the outputs of an earlier run that was interrupted, if they cannot be found. delivered: you have "
    "them, and its rows stay in the index; lost: its rows are taken back.",
    choices=("delivered", "lost"),
)
WHERE = Parameter(
    "where",
    "Only documents with this value, as NAME=VALUE, such as label=2025-hw3. A * at the end of the value stands for any "
    "rest, such as label=2025-*. Repeatable.",
    many=True,
)
OLDER_THAN = Parameter(
    "older_than",
    "Only documents whose time is before this: an age (30d, 8w, 2y) or a date (2024-01-31). Those without a time stay.",
)
PURGE = Parameter(
    "purge",
    "Erase all removed documents: rewrite the files that hold them, so that no byte of them is left.",
    default=False,
    kind=bool,
)
SHARE = Parameter(
    "share",
    "Write an index for another institution, with keyed hashes. The file of the key is made if it does not exist.",
    is_path=True,
)
ALSO = Parameter(
    "also",
    "Ask this index too, as one with INDEX. Both need the same parameters. Repeatable.",
    default=(),
    many=True,
    is_path=True,
)
KEY = Parameter("key", "The key file of an index that another institution shared.", is_path=True)
