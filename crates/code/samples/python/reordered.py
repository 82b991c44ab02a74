"""Grade book: reads scores, prints a report."""
import sys
from collections import defaultdict

LIMIT = 100
book = defaultdict(list)

class Ranking:
    def __init__(self, grades, reverse=True):
        self.grades = grades
        self.reverse = reverse

    def places(self):
        pairs = [(mean(scores), name) for name, scores in self.grades.items()]
        pairs.sort(key=lambda pair: pair[0], reverse=self.reverse)
        return pairs

    def best(self):
        found = None
        for value, name in self.places():
            if found is None or value > found[0]:
                found = (value, name)
        return found

def histogram(width=10):
    bins = [0] * (LIMIT // width + 1)
    for name in book:
        position = int(mean(book[name]) / width)
        bins[position] += 1
    for position, count in enumerate(bins):
        line = '%3d ' % (position * width)
        line += '*' * count
        print(line.rstrip())

def median(scores):
    ordered = sorted(scores)
    half = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2

# The arithmetic mean.
def mean(scores):
    if not scores:
        return 0.0
    total = 0
    for score in scores:
        total += score
    return total / len(scores)

def add(name, score):
    """Add a score, unless it cannot be one."""
    if score < 0 or score > LIMIT:
        print("bad score for", name, score, file=sys.stderr)
        return False
    book[name].append(score)
    return True

def read(path):
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                name, score = line.split(",")
                add(name.strip(), float(score))
            except ValueError as error:
                print(f"line {number}: {error}")


if __name__ == "__main__":
    read(sys.argv[1])
    histogram()
    for value, name in Ranking(book).places():
        print(name, round(value, 2), median(book[name]))
