"""Fresh names, and statements and functions without effect, for all three languages.

A dead statement computes with variables of its own that nothing else reads. The kinds are mixed, the numbers and names
are random, so that no two insertions need be alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random

FIRST = re.findall(
    r"\w+",
    "old new last next my tmp cur base left right low high main extra some all raw full sub mid",
)
SECOND = re.findall(
    r"\w+",
    "value count total index size item node part list step rate flag state mark level bound shift range sum",
)


class Names:
    """Names that a program does not use yet."""

    def __init__(self, used: set[str], random: Random) -> None:
        self.used = set(used)
        self.random = random

    def fresh(self) -> str:
        """Return a name and never again the same."""
        while True:
            first, second = self.random.choice(FIRST), self.random.choice(SECOND)
            name = self.random.choice((f"{first}_{second}", f"{first}{second.title()}", f"{second}{first.title()}"))
            name += self.random.choice(("", "", str(self.random.randrange(1, 90))))
            if name not in self.used:
                self.used.add(name)
                return name


@dataclass
class Dead:
    """Makes statements for one language: java, cpp or python."""

    language: str
    random: Random
    names: Names
    #: Numbers declared so far in the block at hand.
    numbers: list[str] = field(default_factory=list)

    def block(self) -> None:
        """Begin another block: earlier variables are out of reach."""
        self.numbers = []

    def statement(self) -> str:
        """Return one statement as text of one or more lines."""
        kinds = [self._number, self._number, self._other]
        if self.numbers:
            kinds += [self._change, self._change, self._test, self._loop]
        return self.random.choice(kinds)()

    def function(self) -> str:
        """Return a function that nobody calls."""
        self.block()
        name, one, other = (self.names.fresh() for _ in range(3))
        self.numbers = [one, other]
        body = [self.statement() for _ in range(self.random.randrange(5, 11))]
        result = self.random.choice(self.numbers)
        self.block()
        if self.language == "python":
            lines = [f"def {name}({one}, {other}):", *_indented(body), f"    return {result}"]
            return "\n".join(lines) + "\n"
        lines = [f"static int {name}(int {one}, int {other}) {{", *body, f"return {result};", "}"]
        return "\n".join(lines) + "\n"

    def _constant(self) -> str:
        return str(self.random.randrange(2, 200))

    def _sum(self) -> str:
        """An expression of constants, and of a variable where there is one."""
        first = self.random.choice([*self.numbers[-3:], self._constant()])
        sign, second = self.random.choice("+-*"), self._constant()
        rest = f" {self.random.choice('+-')} {self._constant()}" if self.random.random() < 0.5 else ""
        return f"{first} {sign} {second}{rest}"

    def _number(self) -> str:
        value = self._constant() if self.random.random() < 0.4 else self._sum()
        name = self.names.fresh()
        self.numbers.append(name)
        return f"{name} = {value}" if self.language == "python" else f"int {name} = {value};"

    def _change(self) -> str:
        name = self.random.choice(self.numbers)
        end = "" if self.language == "python" else ";"
        changes = [f"{name} = {self._sum()}", f"{name} += {self._constant()}", f"{name} -= {self._constant()}"]
        return self.random.choice(changes) + end

    def _test(self) -> str:
        name, change = self.random.choice(self.numbers), self._change()
        sign = self.random.choice(("<", ">", "==", "!="))
        if self.language == "python":
            return f"if {name} {sign} {self._constant()}:\n    {change}"
        return f"if ({name} {sign} {self._constant()}) {{ {change} }}"

    def _loop(self) -> str:
        change, name = self._change(), self.names.fresh()
        if self.language == "python":
            return f"for {name} in range({self.random.randrange(2, 9)}):\n    {change}"
        return f"for (int {name} = 0; {name} < {self.random.randrange(2, 9)}; {name}++) {{ {change} }}"

    def _other(self) -> str:
        name, word = self.names.fresh(), self.random.choice(SECOND)
        sign, numbers = self.random.choice("<>"), (self._constant(), self._constant())
        kinds = {
            "python": [f'{name} = "{word}"', f"{name} = {numbers[0]} {sign} {numbers[1]}", f"{name} = [{numbers[0]}]"],
            "java": [
                f'String {name} = "{word}";',
                f"boolean {name} = {numbers[0]} {sign} {numbers[1]};",
                f"double {name} = {numbers[0]} / 7.0;",
                f"int[] {name} = new int[{numbers[0]}];",
            ],
            "cpp": [
                f'const char *{name} = "{word}";',
                f"bool {name} = {numbers[0]} {sign} {numbers[1]};",
                f"double {name} = {numbers[0]} / 7.0;",
            ],
        }
        return self.random.choice(kinds[self.language])


def _indented(statements: list[str]) -> list[str]:
    return ["    " + line for one in statements for line in one.split("\n")]
