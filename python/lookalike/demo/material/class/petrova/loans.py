"""Homework 4: the library's loans.

Each line of the input reads

    day,member,title,action

where day is the day of the year and action is "out" or "back". Print which books are
still out, what every member owes, and the three titles that were borrowed most.
"""

import sys

from ledger import settle

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


def table(title, rows):
    """Print rows under a title, aligned."""
    print(title)
    print("-" * len(title))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)))
    print()


def main():
    if len(sys.argv) != 2:
        print("usage: loans.py FILE", file=sys.stderr)
        return 2
    events = read_events(sys.argv[1])
    now, tonight = settle(events, DAYS_FREE, CENTS_PER_DAY)
    table("Out now", [(what, who) for who, what in sorted(now["open"])])
    table("To pay", [(who, f"{amount}c") for who, amount in tonight["paid"].items()])
    order = sorted(now["popularity"], key=now["popularity"].__getitem__)
    table("Read most", [(what,) for what in order[:-4:-1]])
    return 0


if __name__ == "__main__":
    sys.exit(main())
