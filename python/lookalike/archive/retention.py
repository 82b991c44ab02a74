"""Removal by age. The stored times of documents decide; the clock is only believed if it is not behind them.

A clock that runs more than a day behind the newest document is wrong, and a retention rule applied by it would be too
(FAULTS.md, D11). An absolute date needs no clock.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable

from lookalike.errors import ParameterError

DAY = 86_400
_AGE = re.compile(r"(\d{1,6})\s*(d|days?|w|weeks?|y|years?)", re.IGNORECASE)
_DAYS = {"d": 1, "w": 7, "y": 365}
#: An age, a date, or seconds since 1970.
Age = str | int | float | datetime.date | datetime.timedelta


def cut(older_than: Age, now: Callable[[], float], times: Iterable[int]) -> int:
    """Return the time before which documents go, in seconds since 1970.

    ``times`` are those of all documents; they are looked at only if the clock is. Errors: ``ParameterError``.

    >>> cut("2024-01-01", lambda: 0, []), cut("30d", lambda: 100 * DAY, [])
    (1704067200, 6048000)
    """
    age = _age(older_than)
    if age is None:
        return _moment(older_than)
    clock, newest = int(now()), max(times, default=None)
    if newest is not None and clock < newest - DAY:
        raise ParameterError(
            f"the clock of this machine says {_shown(clock)}, and the newest document is of {_shown(newest)}: nothing "
            "is removed; set the clock, or give a date such as 2024-01-31 instead of an age"
        )
    return clock - age


def _age(given: Age) -> int | None:
    """Return an age in seconds, or ``None`` for a moment."""
    if isinstance(given, datetime.timedelta):
        if given < datetime.timedelta():
            raise _refused(given)
        return int(given.total_seconds())
    found = _AGE.fullmatch(given.strip()) if isinstance(given, str) else None
    return None if found is None else int(found[1]) * _DAYS[found[2][0].lower()] * DAY


def _moment(given: object) -> int:
    if isinstance(given, bool) or (isinstance(given, float) and not math.isfinite(given)):
        raise _refused(given)
    if isinstance(given, int | float):
        return int(given)
    try:
        moment = given if isinstance(given, datetime.date) else datetime.datetime.fromisoformat(str(given))
    except ValueError:
        raise _refused(given) from None
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.UTC)
    return int(moment.timestamp())


def _refused(given: object) -> ParameterError:
    return ParameterError(
        f"older_than `{given}` is no time: give an age such as 30d, 8w or 2y, or a date such as 2024-01-31"
    )


def _shown(seconds: int) -> str:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return f"second {seconds:,}"
