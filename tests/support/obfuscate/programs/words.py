"""Counts words of lines, ranks them, and finds the nearest pair."""

import sys

LEAST = 2
MARKS = ".,;:"


def cleaned(line):
    """Drop marks."""
    text = line
    for mark in MARKS:
        text = text.replace(mark, " ")
    return text.lower()


def counted(lines):
    counts = {}
    longest = 0
    total = 0
    for line in lines:
        words = cleaned(line).split()
        for word in words:
            total += 1
            if word in counts:
                counts[word] += 1
            else:
                counts[word] = 1
            if len(word) > longest:
                longest = len(word)
    return counts, longest, total


def ranked(counts):
    pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [pair for pair in pairs if pair[1] >= LEAST] or pairs[:3]


def distance(left, right):
    rows, columns = len(left), len(right)
    before = list(range(columns + 1))
    at = 1
    while at <= rows:
        here = [at]
        for column in range(1, columns + 1):
            cost = 0 if left[at - 1] == right[column - 1] else 1
            here.append(min(before[column] + 1, here[column - 1] + 1, before[column - 1] + cost))
        before = here
        at += 1
    return before[columns]


def show(label, value):
    text = label + " = " + str(value)
    print(text)


def nearest(words):
    best = None
    least = 1000
    checked = 0
    for i in range(len(words)):
        for j in range(i + 1, len(words)):
            checked += 1
            found = distance(words[i], words[j])
            if found < least:
                least = found
                best = (words[i], words[j])
    show("checked", checked)
    return best, least


class Tally:
    def __init__(self, start):
        self.value = start
        self.steps = 0

    def add(self, amount):
        first = amount
        second = 0
        self.value += first + second
        self.steps += 1

    def mean(self):
        if not self.steps:
            return 0
        return self.value / self.steps


def main():
    lines = sys.stdin.read().splitlines()
    counts, longest, total = counted(lines)
    show("longest", longest)
    show("total", total)
    for word, number in ranked(counts):
        print(word, number)
    best, least = nearest(sorted(counts))
    show("nearest", best)
    show("distance", least)
    tally = Tally(0)
    for word in counts:
        tally.add(len(word))
    low = 3
    high = 12
    size = round(tally.mean(), 2)
    print(low < size < high, size)


main()
