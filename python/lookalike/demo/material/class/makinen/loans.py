"""Homework 4: the library's loans.

Each line of the input reads

    day,member,title,action

where day is the day of the year and action is "out" or "back". Print which books are
still out, what every member owes, and the three titles that were borrowed most.
"""

import sys
from collections import Counter
from itertools import groupby, zip_longest
from operator import itemgetter

DAYS_FREE = 21
CENTS_PER_DAY = 20


def read_events(path):
    """Return the events of a file as tuples (day, member, title, action)."""
    events = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            fields = line.split(",")
            if len(fields) != 4:
                raise ValueError(f"line {number}: expected 4 fields, found {len(fields)}")
            day, member, title, action = fields
            events.append((int(day), member, title, action))
    return events


def stays(events):
    """Yield (member, title, out, back) for every loan; back is None if it never ended."""
    by_book = sorted(events, key=itemgetter(1, 2, 0))
    for (member, title), history in groupby(by_book, key=itemgetter(1, 2)):
        days = [day for day, *_ in history]
        yield from zip_longest([member] * len(days[::2]), [title] * len(days[::2]), days[::2], days[1::2])


def weekly_chart(events, width=40):
    """Return one line a week: how many books left the house, as a bar."""
    weeks = [0] * 53
    for day, _, _, action in events:
        if action == "out":
            weeks[(day - 1) // 7] += 1
    first = next((week for week, loans in enumerate(weeks) if loans), 0)
    last = next((week for week in range(52, -1, -1) if weeks[week]), -1)
    scale = width / max(max(weeks), 1)
    lines = []
    for week in range(first, last + 1):
        bar = "#" * round(weeks[week] * scale)
        mark = " <- busiest" if weeks[week] == max(weeks) else ""
        lines.append(f"{week + 1:3} {bar.ljust(width)} {weeks[week]}{mark}")
    return lines


def main():
    if len(sys.argv) != 2:
        print("usage: loans.py FILE", file=sys.stderr)
        return 2
    events = read_events(sys.argv[1])
    closing = max(map(itemgetter(0), events), default=0)
    fees = Counter()
    for member, title, out, back in stays(events):
        if back is None:
            print("not returned:", title, "by", member)
        fees[member] += max((back or closing) - out - DAYS_FREE, 0) * CENTS_PER_DAY
    print(*(f"{name}: {fee / 100:.2f}" for name, fee in (+fees).most_common()), sep="\n")
    print(*(title for title, _ in Counter(e[2] for e in events if e[3] == "out").most_common(3)), sep=", ")
    print(*weekly_chart(events), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
