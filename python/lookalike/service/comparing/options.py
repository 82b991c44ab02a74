"""The options of a comparison over HTTP: those of ``lookalike compare`` that concern neither paths nor a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lookalike import params
from lookalike.archive.store import Index
from lookalike.comparison.job import compare
from lookalike.errors import ParameterError, VersionError
from lookalike.service.comparing.child import EXTENT
from lookalike.tokens import Tokens

#: What ``compare`` and ``write_report`` take here. Starter code and earlier years are uploaded, each as a role.
OPTIONS = (
    params.LANGUAGE, params.K, params.T, params.BY_DIRECTORY, params.LAYOUT, params.INCLUDE, params.EXCLUDE,
    params.COMMENTS, params.INDEXES, params.MAX_SHARING, params.MIN_SCORE, params.MIN_CONTAINED, params.MIN_PASSAGE,
    params.CLUSTER_THRESHOLD, params.TITLE, params.MAX_PAIRS, params.TOP, params.MAX_PASSAGES, params.MAX_SIZE,
    params.ANONYMISE,
)  # fmt: skip
#: Most characters of a title or a pattern.
LONGEST = 500
#: Two submissions that can be compared with any options.
_TINY = {"a": Tokens(range(2)), "b": Tokens(range(2))}


def given(values: dict[str, Any], indexes: Sequence[Index]) -> dict[str, Any]:
    """Return the options that were given, checked by ``compare`` itself with these indexes. Errors: ``ParameterError``.

    An index that was made with other parameters is refused here, and not when the job runs.
    """
    usual = {parameter.name: parameter.default for parameter in OPTIONS}
    chosen = {name: value for name, value in values.items() if name in usual and value != usual[name]}
    for name, value in chosen.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and (len(one) > LONGEST or not one.isprintable()):
                raise ParameterError(f"{name} must have at most {LONGEST} printable characters")
    elsewhere = (*EXTENT, params.ANONYMISE.name, params.INDEXES.name)
    checked = {name: value for name, value in chosen.items() if name not in elsewhere}
    try:
        compare(_TINY, index=indexes, threads=1, **checked)
    except VersionError as error:
        raise ParameterError(str(error)) from None
    return chosen
