"""Homework 4: the library's loans.

Each line of the input reads

    day,member,title,action

where day is the day of the year and action is "out" or "back". Print which books are
still out, what every member owes, and the three titles that were borrowed most.
"""

import sys
from dataclasses import dataclass

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


@dataclass
class Loan:
    """A book in the hands of a member; returned is None while it is out."""

    member: str
    title: str
    taken: int
    returned: int | None = None

    def fine(self, today):
        end = today if self.returned is None else self.returned
        return CENTS_PER_DAY * max(0, end - self.taken - DAYS_FREE)


class Library:
    """Everything that happened, loan by loan."""

    def __init__(self, events):
        self.loans = []
        self.today = events[-1][0] if events else 0
        for day, member, title, action in events:
            getattr(self, "on_" + action)(day, member, title)

    def on_out(self, day, member, title):
        self.loans.append(Loan(member, title, day))

    def on_back(self, day, member, title):
        for loan in reversed(self.loans):
            if loan.title == title and loan.member == member and loan.returned is None:
                loan.returned = day
                return
        raise ValueError(f"{member} brings back {title}, but never took it")

    def missing(self):
        return [loan for loan in self.loans if loan.returned is None]

    def debts(self):
        members = sorted({loan.member for loan in self.loans})
        sums = ((who, sum(loan.fine(self.today) for loan in self.loans if loan.member == who)) for who in members)
        return [(who, cents) for who, cents in sums if cents]

    def charts(self, places=3):
        titles = [loan.title for loan in self.loans]
        return sorted(set(titles), key=titles.count, reverse=True)[:places]


def main():
    if len(sys.argv) != 2:
        print("usage: loans.py FILE", file=sys.stderr)
        return 2
    events = read_events(sys.argv[1])
    library = Library(events)
    for loan in library.missing():
        print(f"{loan.title} is with {loan.member} since day {loan.taken}")
    for who, cents in library.debts():
        print(f"{who} owes {cents // 100}.{cents % 100:02}")
    print("Most wanted:", "; ".join(library.charts()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
