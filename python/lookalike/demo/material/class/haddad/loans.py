"""Homework 4: the library's loans.

Each line of the input reads

    day,member,title,action

where day is the day of the year and action is "out" or "back". Print which books are
still out, what every member owes, and the three titles that were borrowed most.
"""

import sys
from collections import defaultdict

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


def find(shelf, title):
    """Return the position of a title on the shelf, or -1."""
    i = 0
    while i < len(shelf) and shelf[i][0] != title:
        i += 1
    return i if i < len(shelf) else -1


def close_account(account, until):
    total = 0
    while account:
        title, since = account.pop()
        over = until - since
        total += CENTS_PER_DAY * (over - DAYS_FREE) if over > DAYS_FREE else 0
    return total


def draw_weeks(events, columns=40):
    # How busy was the desk? One row for each week of the year.
    weeks = [0] * 53
    for day, _, _, action in events:
        if action == "out":
            weeks[(day - 1) // 7] += 1
    first = next((week for week, loans in enumerate(weeks) if loans), 0)
    last = next((week for week in range(52, -1, -1) if weeks[week]), -1)
    scale = columns / max(max(weeks), 1)
    rows = []
    for week in range(first, last + 1):
        bar = "*" * round(weeks[week] * scale)
        mark = " (most)" if weeks[week] == max(weeks) else ""
        rows.append(f"{week + 1:3} {bar.ljust(columns)} {weeks[week]}{mark}")
    return rows


def main():
    if len(sys.argv) != 2:
        print("usage: loans.py FILE", file=sys.stderr)
        return 2
    events = read_events(sys.argv[1])
    shelves, debts, popular = defaultdict(list), defaultdict(int), []
    for day, member, title, action in events:
        shelf = shelves[member]
        place = find(shelf, title)
        match action, place:
            case "out", -1:
                shelf.append((title, day))
                popular.append(title)
            case "back", -1:
                print("ignored:", title)
            case "back", _:
                debts[member] += close_account([shelf.pop(place)], day)
    for member, shelf in shelves.items():
        print(member, "has", [title for title, _ in shelf] or "nothing")
        debts[member] += close_account(shelf, day)
        print(member, "owes", debts[member], "cents")
    best = []
    while popular and len(best) < 3:
        winner = max(popular, key=popular.count)
        best.append(winner)
        popular = [title for title in popular if title != winner]
    print("best:", best)
    for row in draw_weeks(events):
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
