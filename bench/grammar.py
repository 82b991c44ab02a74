"""Plausible Python functions and classes by a random grammar: loops, conditions, calls, docstrings.

A rule is a choice of templates, and a template names other rules as `<rule>`; those that need to know what was written
before are methods of `Writer`. Such programs do nothing sensible, but they parse and look like what people write.
"""

from __future__ import annotations

import re
from random import Random
from textwrap import indent

from bench.corpora import pick

INDENT = "    "
#: How deep expressions go and how deep blocks nest.
DEEPEST_EXPRESSION, DEEPEST_BLOCK = 2, 2
HOLE = re.compile(r"<(\w+)>")


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = words("""
    account amount answer area average balance basket board bonus book bounds bucket budget buffer cart cell chain
    charge chunk city clause client clock column cost count course cursor customer cycle day deck degree delta depth
    digit distance edge entry error event factor field figure flag frame game gap grade graph grid group guess height
    index interval invoice item journey key label layer letter level limit line link loan lot margin mark mass matrix
    measure member message minute move name node note number offset order owner page pair part path pattern payment
    peak period person piece pivot place player point pool position price prize product queue quota rank rate ratio
    reading record region remainder rent report result reward root route row rule salary sample scale score season
    seat segment sensor shape share shelf shift signal size slot source speed stack stage state station step stock
    store stream street student supply symbol table tail target tax team term test ticket tile time token total track
    trade trail tree trip turn unit user value vector vertex visit volume vote wage wall weight width window winner
    word worker yard year zone
""")
VERBS = words("""
    add adjust apply assign balance build calculate change check choose clean collect combine compare compute convert
    copy count create decode describe divide draw encode estimate expand extract fill filter find fix format gather
    get group guess handle insert join limit list load locate make map mark match measure merge move normalise order
    pack parse pick place plan print process rank read reduce remove replace reset resolve rotate save scale scan
    score search select show simulate solve sort split store sum swap test total trace update validate visit weigh
""")
ADJECTIVES = words("""
    active best big busy cheap clean current daily dirty double early empty even fast final first free full good
    hidden high inner last late left local long lost low main minor new next odd old open other outer past plain quick
    random rare raw rich right safe second short simple single slow small sorted spare stable static total upper used
    valid whole wide
""")

WORDS = {"noun": NOUNS, "verb": VERBS, "adjective": ADJECTIVES}

#: The mark that students put before what is left to do. In two parts, so that a search for loose ends does not find it
#: here; the generated programs must keep their bytes.
LATER = "TO" + "DO"
RULES: dict[str, tuple[str, ...]] = {
    "literal": ("0", "1", "2", "<digits>", "<digits>", "0.<digits>", '"<noun>"', '"<adjective> <noun>"', "None", '""'),
    "atom": ("<variable>", "<variable>", "<variable>", "<variable>", "<variable>", "<literal>", "<variable>[0]"),
    "expression": (
        "<atom>",
        "<atom> + <expression>",
        "<expression> - <atom>",
        "<expression> * <atom>",
        "(<expression> + <expression>) / <atom>",
        "<atom> % <literal>",
        "<expression> // <digits>",
        "<variable>[<atom>]",
        "<variable>[<atom> + 1]",
        "<variable>[<atom>:<atom>]",
        "<variable>[<atom>][<atom>]",
        "<variable>.<noun>",
        "len(<variable>)",
        "len(<variable>) - <atom>",
        "<wrapper>(<expression>)",
        "max(<expression>, <expression>)",
        "min(<expression>, <atom>)",
        "round(<expression>, <digits>)",
        "<variable>.get(<atom>, <literal>)",
        "<variable>.strip().split(<literal>)",
        "<variable>.<verb>_<noun>(<atom>)",
        '", ".join(<variable>)',
        'f"{<variable>}: {<variable>}"',
        "[<inner> for x in <sequence>]",
        "[<inner> for x in <sequence> if <test>]",
        "{x: <expression> for x in <sequence>}",
        "sum(<inner> for x in <sequence> if <test>)",
        "sorted(<variable>, key=lambda x: <inner>)",
        "(<expression>, <expression>)",
        "[<atom>, <atom>, <atom>]",
        "<expression> if <condition> else <expression>",
        "<call>",
        "<call>",
    ),
    "wrapper": ("abs", "int", "str", "list", "set", "float", "sorted", "sum", "any", "tuple"),
    "inner": ("x", "x * <atom>", "x + <atom>", "x.<noun>", "x[<digits>]", "str(x)", "(x, <atom>)", "<call>", "x - 1"),
    "test": ("x", "x > <atom>", "x != <atom>", "x not in <variable>", "x % 2 == 0", "x.<noun>", "x[0] == <atom>"),
    "sequence": (
        "<variable>",
        "<variable>",
        "range(<atom>)",
        "range(len(<variable>))",
        "range(<atom>, <expression>)",
        "<variable>.values()",
        "reversed(<variable>)",
        "<variable>.<noun>",
        "<variable>[1:]",
        "<call>",
    ),
    "comparison": ("==", "!=", "<", ">", "<=", ">=", "in", "not in"),
    "condition": (
        "<expression> <comparison> <atom>",
        "<variable> <comparison> <expression>",
        "not <variable>",
        "<variable> is None",
        "<variable> is not None",
        "<variable>",
        "len(<variable>) <comparison> <literal>",
        "<atom> <comparison> <atom> <comparison> <atom>",
        "<condition> and <condition>",
        "<condition> or <variable> <comparison> <atom>",
        "isinstance(<variable>, <wrapper>)",
        "all(<test> for x in <variable>)",
        "<variable>.startswith(<literal>)",
        "<call>",
    ),
    "simple": (
        "<new> = <expression>",
        "<new> = <expression>",
        "<new> = <expression>",
        "<new> = <call>",
        "<new>, <new> = <expression>, <expression>",
        "<new> = []",
        "<new> = {}",
        "<new> = 0",
        "<variable> += <expression>",
        "<variable> += 1",
        "<variable> -= <expression>",
        "<variable> *= <atom>",
        "<variable>[<atom>] = <expression>",
        "<variable>[<atom>] = <variable>.get(<atom>, 0) + 1",
        "<variable>[<atom>], <variable>[<atom>] = <variable>[<atom>], <variable>[<atom>]",
        "<variable>.append(<expression>)",
        "<variable>.append((<expression>, <expression>))",
        "<variable>.extend(<expression>)",
        "<variable>.add(<expression>)",
        "<variable>.pop()",
        "<variable>.sort(reverse=True)",
        "print(<expression>)",
        'print(f"<noun> {<variable>} <noun> {<variable>}")',
        'print("<adjective> <noun>:", <expression>)',
        "assert <condition>",
        "<call>",
        "del <variable>[<atom>]",
    ),
    "compound": (
        "if <condition>:\n<body>",
        "if <condition>:\n<body>",
        "if <condition>:\n<body>\nelse:\n<body>",
        "if <condition>:\n<body>\nelif <condition>:\n<body>\nelse:\n<body>",
        "if <condition>:\n    return <expression>",
        'if <condition>:\n    raise ValueError("<noun> <noun>")',
        "for <new> in <sequence>:\n<body>",
        "for <new> in <sequence>:\n<body>",
        "for <new>, <new> in enumerate(<sequence>):\n<body>",
        "for <new>, <new> in <variable>.items():\n<body>",
        "for <new>, <new> in zip(<sequence>, <sequence>):\n<body>",
        "for <new> in <sequence>:\n<body>\n    if <condition>:\n        break",
        "for <new> in <sequence>:\n    if <condition>:\n        continue\n<body>",
        "while <condition>:\n<body>",
        "while <condition>:\n<body>\n    <variable> += 1",
        "try:\n<body>\nexcept (ValueError, KeyError):\n    <new> = <expression>",
        "with open(<variable>) as <new>:\n<body>",
    ),
    "docstring": (
        '"""<verb> the <noun> of a <adjective> <noun>."""',
        '"""Return the <adjective> <noun> for each <noun>."""',
        '"""<adjective> <noun>, and the <noun> of every <noun>."""',
    ),
    "comment": (
        "# <verb> the <noun>",
        "# the <adjective> <noun> first",
        "# <noun> and <noun> are needed later",
        f"# {LATER} <verb> <adjective> <noun>",
        "# now <verb> what is left of the <noun>",
    ),
    "head": (
        '"""Exercise <digits>: <verb> the <noun>."""\n\nimport sys\nimport math\n',
        '"""<adjective> <noun> and <noun>, week <digits>."""\n\nimport os\nfrom collections import defaultdict\n',
        '"""<verb> <noun>."""\n\nimport random\nimport re\nfrom dataclasses import dataclass\n',
    ),
    "tail": (
        'if __name__ == "__main__":\n    main()\n',
        'if __name__ == "__main__":\n    sys.exit(main())\n',
        'if __name__ == "__main__":\n    main(sys.argv[1:])\n',
    ),
    "idiom": (
        "def read_lines(path):\n    with open(path) as file:\n        return [line.strip() for line in file]\n",
        "def main():\n    path = sys.argv[1]\n    for line in read_lines(path):\n        print(line)\n",
        "def is_prime(n):\n    if n < 2:\n        return False\n    for i in range(2, int(n ** 0.5) + 1):\n"
        "        if n % i == 0:\n            return False\n    return True\n",
        "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n",
        "def ask(prompt):\n    while True:\n        try:\n            return int(input(prompt))\n"
        '        except ValueError:\n            print("not a number")\n',
    ),
}


class Writer:
    """Writes the parts of one program; all its choices come from `rng`."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        #: What has been defined so far, and how many arguments each takes.
        self.functions: dict[str, int] = {"print": 1}
        #: Every name that was made: what renaming changes.
        self.names: set[str] = set()
        self.scope: list[str] = []
        self.nesting = 0

    def write(self, rule: str, depth: int = 0) -> str:
        """Expand a rule; expressions nested too deep end in atoms."""
        rule = "atom" if rule == "expression" and depth > DEEPEST_EXPRESSION else rule
        return self.fill(pick(self.rng, RULES[rule]), depth)

    def fill(self, template: str, depth: int = 0) -> str:
        """Fill the holes of a template; the names it makes are known to what comes after them."""
        made: list[str] = []

        def expand(hole: re.Match[str]) -> str:
            rule = hole[1]
            if rule == "new":
                made.append(self.new_name())
                return made[-1]
            if rule == "body":
                self.scope += made
                made.clear()
            own = {"body": self.body, "call": self.call, "digits": self.digits, "variable": self.variable}
            return own[rule]() if rule in own else self.word(rule) if rule in WORDS else self.write(rule, depth + 1)

        filled = HOLE.sub(expand, template)
        self.scope += made
        return filled

    def word(self, kind: str) -> str:
        """Draw a word of a kind."""
        return pick(self.rng, WORDS[kind])

    def digits(self) -> str:
        """Draw a number of one or two digits."""
        return str(int(self.rng.random() * 100))

    def variable(self) -> str:
        """Name something that is known here."""
        return pick(self.rng, self.scope)

    def new_name(self) -> str:
        """Make a name of one word, or of two."""
        name = self.word("noun") if self.rng.random() < 0.5 else f"{self.word('adjective')}_{self.word('noun')}"
        self.names.add(name)
        return name

    def call(self) -> str:
        """Call a function of this program."""
        name = pick(self.rng, list(self.functions))
        return f"{name}({', '.join(self.write('atom') for _ in range(self.functions[name]))})"

    def body(self) -> str:
        """Write some statements, indented."""
        self.nesting += 1
        written = [self.statement() for _ in range(1 + int(self.rng.random() * 3))]
        self.nesting -= 1
        return indent("\n".join(written), INDENT)

    def statement(self) -> str:
        """Write a statement; blocks do not nest for ever."""
        nests = self.nesting < DEEPEST_BLOCK and self.rng.random() < 0.4
        return self.write("compound" if nests else "simple")

    def function(self, owner: tuple[str, ...] = ()) -> str:
        """Write a function, or a method of an object with the given fields."""
        name = f"{self.word('verb')}_{self.word('noun')}"
        given = list(dict.fromkeys(self.new_name() for _ in range(1 + int(self.rng.random() * 3))))
        self.names.add(name)
        self.scope = [*given, *owner]
        lines = [f"def {name}({', '.join((['self'] if owner else []) + given)}):", INDENT + self.write("docstring")]
        statements = [self.statement() for _ in range(3 + int(self.rng.random() * 6))]
        lines += [indent(text, INDENT) for text in (*statements, self.fill("return <expression>"))]
        self.functions[f"self.{name}" if owner else name] = len(given)
        return "\n".join(lines) + "\n"

    def class_(self) -> str:
        """Write a class: what it is made of, and some methods."""
        fields = list(dict.fromkeys(self.new_name() for _ in range(2 + int(self.rng.random() * 3))))
        lines = [f"class {self.word('adjective').title()}{self.word('noun').title()}:"]
        lines += [INDENT + self.write("docstring"), "", f"{INDENT}def __init__(self, {', '.join(fields)}):"]
        lines += [f"{2 * INDENT}self.{name} = {name}" for name in fields]
        known = dict(self.functions)
        for _ in range(2 + int(self.rng.random() * 2)):
            lines += ["", indent(self.function(tuple(f"self.{name}" for name in fields)), INDENT).rstrip()]
        self.functions = known
        return "\n".join(lines) + "\n"
