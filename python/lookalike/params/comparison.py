"""Parameters of `compare`, and its defaults by language."""

from __future__ import annotations

from lookalike._types import Parameter

#: Default k and t in a comparison, by language. Tokens of prose are letters, those of code its words and operators.
#: Java and similar languages have short statements; C and C++ have long ones that everybody writes. Only runs of t
#: tokens count in a score, so t is the longest that keeps the average precision on labelled data (docs/quality.md).
LANGUAGE_THRESHOLDS = {
    "text": (16, 22),
    **dict.fromkeys(("java", "csharp", "kotlin", "scala"), (8, 11)),
    **dict.fromkeys(("c", "cpp"), (12, 16)),
}
#: The same for all other languages.
CODE_THRESHOLDS = (10, 14)
#: Default cut-off of scores in a comparison, by language, and for all other languages. Programs written to one task
#: resemble each other; essays do not. docs/compare.md has precision and recall on labelled data.
LANGUAGE_CUT_OFFS = {"text": 0.05}
CODE_CUT_OFF = 0.25
#: Least evidence of listed pairs: own matched tokens that are no import lines, letters of prose, and words of equal
#: string literals. Two files with one include, or two empty interfaces, are equal and say nothing (docs/compare.md).
MIN_EVIDENCE = 18
#: Least surprise of contained pairs and of strong passages, in bits.
MIN_BITS = 100
#: The larger side of a contained pair, in words. Own material is what the score measures, by weight and not by tokens.
MUCH_LARGER = "a submission whose own material weighs at least three times as much"
#: Default of the least worth of strong passages, by language, and for all other languages: the smallest at which fewer
#: than one pair in a hundred without copies is listed for a passage (docs/compare.md).
LANGUAGE_PASSAGES = {"text": 70, "c": 18, "cpp": 18}
CODE_PASSAGE = 50
LANGUAGE = Parameter(
    "language",
    "Language of the files; auto detects it for each file. `lookalike languages` lists the names.",
    default="auto",
    flags=("-l",),
)
TEMPLATE = Parameter(
    "template",
    "Starter code that was handed out (file, folder or archive); matches with it are ignored. Repeatable.",
    flags=("-b",),
    many=True,
    is_path=True,
)
OLD = Parameter(
    "old",
    "Submissions of earlier years; compared with the new ones, not with each other. Repeatable.",
    many=True,
    is_path=True,
)
INDEXES = Parameter(
    "index",
    "An index with submissions of earlier years, which are not read again. Repeatable.",
    many=True,
    is_path=True,
)
BY_DIRECTORY = Parameter(
    "by_directory",
    "Each folder is one submission. Default if the given folder contains folders.",
    kind=bool,
    flags=("-d",),
)
LAYOUT = Parameter(
    "layout",
    "How submissions are arranged in the folder or archive.",
    default="auto",
    choices=("auto", "flat", "dirs", "moodle", "canvas"),
)
INCLUDE = Parameter("include", "Read only files that match this pattern, such as '*.py'. Repeatable.", many=True)
EXCLUDE = Parameter(
    "exclude",
    "Skip files that match this pattern, besides version control, dependencies and build output. Repeatable.",
    many=True,
)
FOLLOW_LINKS = Parameter("follow_links", "Follow links that stay inside the folder.", default=False, kind=bool)
COMMENTS = Parameter("comments", "Also compare the words in comments.", default=False, kind=bool, flags=("-C",))
MAX_SHARING = Parameter(
    "max_sharing",
    "Ignore material that more than this many submitters share. Default: such material only has less weight.",
    kind=int,
    flags=("-m",),
    least=2,
    most=2**32 - 1,
)
MIN_SCORE = Parameter(
    "min_score",
    f"List pairs with at least this score, 0 to 1. Default: {CODE_CUT_OFF} for code, {LANGUAGE_CUT_OFFS['text']} for "
    "prose, by what most files are.",
    kind=float,
    least=0,
    most=1,
)
MIN_CONTAINED = Parameter(
    "min_contained",
    f"List pairs apart whose smaller side is contained to this share, 0 to 1, in {MUCH_LARGER}.",
    default=0.6,
    kind=float,
    least=0,
    most=1,
)
MIN_PASSAGE = Parameter(
    "min_passage",
    "List pairs below --min-score apart that share a passage of at least this many tokens (letters of prose), those "
    "that many have counting less; 0 for no such list. Default: "
    f"{CODE_PASSAGE}, {LANGUAGE_PASSAGES['c']} for C and C++, {LANGUAGE_PASSAGES['text']} letters for prose.",
    kind=int,
    least=0,
    most=2**32 - 1,
)
CLUSTER_THRESHOLD = Parameter(
    "cluster_threshold", "Pairs with at least this score form clusters.", default=0.5, kind=float, least=0, most=1
)
# fmt: off
TOP = Parameter("top", "Number of pairs with a page of their own, 0 for all. The others open in pairs/more.html. "
                "All of these pages take at most --max-size bytes.",
                default=250, kind=int, flags=("-n", "--max-pages"), least=0)
FAIL_ABOVE = Parameter("fail_above", "Exit with code 1 if a pair has at least this score, or one in the list of "
                       "contained pairs this share. Pairs listed for a passage alone never count. Below "
                       f"{CODE_CUT_OFF} it also lowers the default of --min-score: to this, and at most "
                       f"{LANGUAGE_CUT_OFFS['text']}.",
                       kind=float, least=0, most=1)
MAX_PAIRS = Parameter("max_pairs", "Most pairs that are listed, best first; 0 for all. All are counted.",
                      default=10_000, kind=int, flags=("--max-rows",), least=0, most=2**32 - 1)
MAX_PASSAGES = Parameter("max_passages", "Most passages in the tables; 0 for all.", default=100_000, kind=int, least=0)
MAX_SIZE = Parameter("max_size", "Most bytes of all pages of pairs; 0 for no limit. Default: 40000000, and no limit "
                     "with --top 0.", kind=int, least=0)
# fmt: on
#: The default of the last one for any other --top.
PAGE_BYTES = 40_000_000
TITLE = Parameter("title", "Title of the report.", flags=("-c",))
ANONYMISE = Parameter(
    "anonymise",
    "Replace all names by codes. The list of codes and names is written next to the report.",
    default=False,
    kind=bool,
)
#: Characters with which a spreadsheet formula begins.
FORMULA = tuple("=+-@\t\r\n\0＝＋－＠")
