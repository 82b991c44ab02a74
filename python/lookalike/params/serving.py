"""Parameters of the service (`lookalike serve`, `lookalike token`)."""

from __future__ import annotations

from lookalike._types import Parameter

MIB = 1 << 20
#: What a token may allow.
SCOPES = ("read", "add", "remove", "compare")
#: The parameters of `lookalike serve`, by name.
SERVING = {
    parameter.name: parameter
    for parameter in (
        Parameter("host", "Address to listen on. Others than loopback need --token-file.", default="127.0.0.1"),
        Parameter("port", "Port to listen on; 0 for any free one.", default=8400, kind=int, least=0, most=65_535),
        Parameter(
            "token_file",
            "File of tokens that `lookalike token` makes. Without it only this machine can connect, and may do all.",
            is_path=True,
        ),
        Parameter(
            "data",
            "Folder for comparisons, answers to repeated requests, and the server's own sockets. It is made if it does "
            "not exist.",
            default="lookalike-data",
            is_path=True,
        ),
        Parameter(
            "allow_host",
            "Also answer requests for this host name, as a proxy sends it. Repeatable.",
            default=(),
            many=True,
        ),
        Parameter(
            "readers",
            "Processes that answer questions; 0 for one per core.",
            default=0,
            kind=int,
            least=0,
            most=256,
        ),
        Parameter(
            "max_body",
            "Most bytes of a request, also after decompression.",
            default=10 * MIB,
            kind=int,
            least=1_024,
            most=1_024 * MIB,
        ),
        Parameter(
            "max_upload",
            "Most bytes of the files of one comparison.",
            default=256 * MIB,
            kind=int,
            least=1_024,
            most=16_384 * MIB,
        ),
        Parameter(
            "max_kept",
            "Most bytes of all comparisons of one token, uploads and reports together. More are refused with 413.",
            default=10_240 * MIB,
            kind=int,
            least=1_024,
            most=2**50,
        ),
        Parameter("max_documents", "Most documents of one batch.", default=100, kind=int, least=1, most=100_000),
        Parameter("max_connections", "Most open connections.", default=2_000, kind=int, least=1, most=100_000),
        Parameter(
            "queue",
            "Most requests that wait for a free core, per reader. More are refused with 429.",
            default=128,
            kind=int,
            least=0,
            most=100_000,
        ),
        Parameter(
            "header_seconds",
            "Seconds until the headers of a request must be there.",
            default=5,
            kind=int,
            least=1,
            most=3_600,
        ),
        Parameter(
            "body_seconds",
            "Seconds until a body must be there, unless it arrives at 1 KB per second or faster.",
            default=30,
            kind=int,
            least=1,
            most=3_600,
        ),
        Parameter(
            "send_seconds",
            "Seconds in which a client must take 1 KB of its answer each, or it is cut off.",
            default=30,
            kind=int,
            least=1,
            most=3_600,
        ),
        Parameter(
            "answer_seconds", "Seconds until a request is given up with 504.", default=60, kind=int, least=1, most=3_600
        ),
        Parameter(
            "retain",
            "Days until a comparison and its report are deleted.",
            default=30,
            kind=int,
            least=1,
            most=36_500,
        ),
        Parameter(
            "upload_idle",
            "Minutes without a new file until a comparison that was not started is deleted.",
            default=60,
            kind=int,
            least=1,
            most=1_440,
        ),
        Parameter(
            "moss_port",
            "Also speak the protocol of the MOSS submission scripts on this port. Default: no.",
            kind=int,
            least=0,
            most=65_535,
        ),
        Parameter(
            "public_url",
            "Address of this server as clients see it, such as https://similar.example.org behind a proxy. Default: "
            "the one that they connected to.",
        ),
        Parameter("jobs", "Comparisons that run at the same time.", default=1, kind=int, least=1, most=64),
        Parameter(
            "job_memory",
            "Most bytes of memory of one comparison.",
            default=4_096 * MIB,
            kind=int,
            least=512 * MIB,
            most=2**50,
        ),
        Parameter(
            "anonymise",
            "Reports of comparisons show a code instead of each name.",
            default=False,
            kind=bool,
        ),
    )
}
#: The parameters of `lookalike token`, by name.
GRANTING = {
    parameter.name: parameter
    for parameter in (
        Parameter("name", "Name of the token, which the access log shows."),
        Parameter(
            "scope",
            f"What it allows: {', '.join(SCOPES)}; several with commas.",
            default="read",
        ),
        Parameter("index", "Allow only this index. Repeatable. Default: all.", default=(), many=True),
        Parameter("expires", "When it ends: an age such as 90d or 2y, or a date. Default: never."),
    )
}
#: Seconds until an unused connection is closed.
IDLE_SECONDS = 30
#: Most bytes of the headers of a request.
HEADER_BYTES = 64 << 10
#: Bytes per second at which a body may take longer.
BODY_RATE = 1_024
#: Seconds that requests have to end when the server stops.
DRAIN_SECONDS = 10
#: Days until the answer to a request with an idempotency key is forgotten.
KEY_DAYS = 7
#: Documents on a page of the list of documents.
PAGE = Parameter("limit", "Most documents on a page.", default=100, kind=int, least=1, most=1_000)
#: Whether a comparison whose archive was sent starts at once.
START = Parameter("start", "Start at once; false to add more files first.", default=True, kind=bool)
#: Comparisons that are uploaded or wait, in all; more are refused with 429.
JOB_QUEUE = 100
#: How often a comparison is started that was interrupted because the server died.
JOB_ATTEMPTS = 3
#: Most files of a comparison that are sent one by one.
JOB_FILES = 20_000
#: Seconds until a comparison is given up, and until one that was never started is deleted.
JOB_SECONDS = 4 * 3_600
UPLOAD_SECONDS = 86_400
#: How much a comparison yields to the processes that answer (nice).
JOB_NICENESS = 10
#: Most connections of clients of MOSS at the same time: with a token, and before they have shown one.
MOSS_CONNECTIONS = 64
MOSS_STRANGERS = 256
#: Seconds until the files of a client of MOSS must be there, however fast they come.
MOSS_SECONDS = 3_600
