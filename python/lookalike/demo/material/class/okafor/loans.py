"""Homework 4: the library's loans.

Each line of the input reads

    day,member,title,action

where day is the day of the year and action is "out" or "back". Print which books are
still out, what every member owes, and the three titles that were borrowed most.
"""

import sys

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


def books_out(events):
    # Who has which book: (member, title) -> the day it was taken.
    taken = {}
    for day, member, title, action in events:
        if action == "out":
            taken[member, title] = day
        elif (member, title) in taken:
            del taken[member, title]
    return taken


def late_fee(first_day, last_day):
    # Three weeks are free.
    days_late = last_day - first_day - DAYS_FREE
    if days_late <= 0:
        return 0
    return days_late * CENTS_PER_DAY


def all_fines(events):
    # What every member owes, in cents. A book that is not back counts until the last day.
    taken = {}
    owed = {}
    today = 0
    for day, member, title, action in events:
        today = max(today, day)
        if action == "out":
            taken[member, title] = day
        else:
            # A book that was never taken costs nothing.
            first_day = taken.pop((member, title), day)
            owed[member] = owed.get(member, 0) + late_fee(first_day, day)
    for (member, title), first_day in taken.items():
        owed[member] = owed.get(member, 0) + late_fee(first_day, today)
    return owed


def favourites(events, how_many):
    times = {}
    for event in events:
        if event[3] == "out":
            times[event[2]] = times.get(event[2], 0) + 1
    ranking = list(times.items())
    # Most borrowed first, then by the alphabet.
    ranking.sort(key=lambda item: (-item[1], item[0]))
    return ranking[:how_many]


def main():
    if len(sys.argv) != 2:
        print("usage: loans.py FILE", file=sys.stderr)
        return 2
    events = read_events(sys.argv[1])
    print("Still out:")
    for (member, title), day in books_out(events).items():
        print("  " + title + ", with " + member + " since day " + str(day))
    print("Fines:")
    for member, cents in all_fines(events).items():
        if cents > 0:
            print("  " + member + " owes " + str(cents / 100))
    print("Favourites:")
    for title, count in favourites(events, 3):
        print("  " + title + " (" + str(count) + ")")
    return 0


if __name__ == "__main__":
    sys.exit(main())
