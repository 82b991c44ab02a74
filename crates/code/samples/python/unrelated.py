#!/usr/bin/env python3
# A text adventure: rooms, exits and a parser of two words.
from __future__ import annotations

import dataclasses
import re
import typing as t


@dataclasses.dataclass(frozen=True)
class Room:
    title: str
    exits: dict[str, str] = dataclasses.field(default_factory=dict)
    dark: bool = False


ROOMS: t.Final = {
    "hall": Room("a hall", {"north": "cellar", "east": "garden"}),
    "cellar": Room("a cellar", {"south": "hall"}, dark=True),
    "garden": Room("a garden", {"west": "hall"}),
}
COMMAND = re.compile(r"^\s*(?P<verb>go|take|look)\s+(?P<noun>\w+)", re.I)


async def narrate(queue) -> None:
    while (sentence := await queue.get()) is not None:
        yield sentence.capitalize() + "."


class Game:
    def __init__(self) -> None:
        self.place, self.bag = "hall", set()

    @property
    def room(self) -> Room:
        return ROOMS[self.place]

    def go(self, way: str) -> str:
        assert way, "no way"
        try:
            self.place = self.room.exits[way.lower()]
        except KeyError:
            return "you cannot go there"
        else:
            return f"you are in {self.room.title}" if not self.room.dark else "it is dark"

    def take(self, thing: str) -> str:
        if thing in self.bag:
            return "you have it"
        self.bag |= {thing}
        return f"taken: {', '.join(sorted(self.bag))}"

    def obey(self, line: str) -> str:
        global turns
        turns = turns + 1 if "turns" in globals() else 1
        match COMMAND.match(line):
            case None:
                return "what?"
            case found if found["verb"] == "look":
                return self.room.title
            case found:
                return getattr(self, found["verb"])(found["noun"])


def play(lines: t.Iterable[str]) -> t.Iterator[str]:
    game = Game()
    yield from (game.obey(line) for line in lines if line.strip() and not line.startswith("#"))
    del game


if __name__ == "__main__":
    print(*play(["look around", "go north", "take lamp", "go up"]), sep="\n")
