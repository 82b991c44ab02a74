"""Random programs whose definitions use each other, by calls, references, strings and supertypes."""

from __future__ import annotations

import random

NAMES = ("alpha", "beta", "gamma", "delta", "omega", "sigma")
CLASSES = ("Node", "Tree", "Shape", "Queue")
#: Statements that use a name or a class; then one that finds code by a computed name, and what usually stands there.
PYTHON_USES = (
    "{name}(1, 2)",
    "print({other}().{name}(), 3 + 4)",
    "run({name})",
    "print('{name}')",
    "print('a {name} b')",
    "print(f'{{{name}(1)}} of it')",
    "{other}.{name}({name}=3)",
    "print(1 + 2, [3, 4, 5])",
    "print(1 + 2, [3, 4, 5])",
    "print(getattr(sys, 'path'))",
    "print(len('word'))",
)
JAVA_USES = (
    "{name}(1, 2);",
    "new {other}().{name}();",
    "int {name} = 1 + 2;",
    "Runnable r = {other}::{name};",
    'System.out.println("{name}");',
    'System.out.println("a {name} b");',
    "Runnable r = new Runnable() {{ public void run() {{ {name}(); }} }};",
    "list.forEach(x -> {name}(x));",
    "int x = 1 + 2 * 3;",
    "int x = 1 + 2 * 3;",
    'x.getClass().getMethod("{name}");',
    "char c = 'a';",
)
#: How often the rare one is among them.
COMPUTED = 0.02


def _use(chance: random.Random, uses: tuple[str, ...]) -> str:
    *usual, computed, plain = uses
    name, other = chance.choice(NAMES), chance.choice(CLASSES)
    last = computed if chance.random() < COMPUTED else plain
    return chance.choice((*usual, last)).format(name=name, other=other)


def python_program(chance: random.Random) -> list[str]:
    """Return the files of a random Python program."""
    texts = []
    for _ in range(chance.choice((1, 1, 2))):
        parts = ["import sys", chance.choice(("", "from other import alpha as first", '"""A remark on beta."""'))]
        parts += [_python_definition(chance, 0) for _ in range(chance.randint(1, 6))]
        parts += [f"value_{i} = [{i}, {i} + 1, 'text {i}']" for i in range(chance.randint(0, 30))]
        uses = [_use(chance, PYTHON_USES) for _ in range(chance.randint(1, 4))]
        ends = (
            "\n    ".join(("if __name__ == '__main__':", *uses)),
            "\n    ".join(("for each in range(3):", *uses)),
            "\n".join(uses),
            "\n".join(uses),
            f"total = {chance.choice(NAMES)}",
        )
        parts.append(chance.choice(ends))
        texts.append("\n\n".join(part for part in parts if part) + "\n")
    return texts


def _python_definition(chance: random.Random, depth: int) -> str:
    pad = "    " * depth
    decorator = chance.choice(("", "", "", "@staticmethod", "@app.route('/')", f"@{chance.choice(NAMES)}"))
    lines = [pad + decorator] if decorator else []
    if depth < 2 and chance.random() < 0.35:
        bases = chance.choice(("", "", "(object)", f"({chance.choice(CLASSES)})", "(threading.Thread)", "(MyError)"))
        lines.append(f"{pad}class {chance.choice(CLASSES)}{bases}:")
        lines.append(f"{pad}    size = {chance.choice(('3', 'alpha()', 'beta'))}")
        lines += [_python_definition(chance, depth + 1) for _ in range(chance.randint(1, 4))]
        return "\n".join(lines)
    name = chance.choice((*NAMES, *NAMES, "__init__", "__str__", "test_it"))
    given = chance.choice(("self", "self, n=3", f"n={chance.choice(NAMES)}()", f"*, n: int = {chance.choice(NAMES)}()"))
    lines.append(f"{pad}def {name}({given}):")
    lines += [f"{pad}    {_use(chance, PYTHON_USES)}" for _ in range(chance.randint(1, 3))]
    if depth < 2 and chance.random() < 0.2:
        lines.append(_python_definition(chance, depth + 1))
    return "\n".join(lines)


def java_program(chance: random.Random) -> list[str]:
    """Return the files of a random Java program."""
    texts = []
    has_main = chance.random() < 0.9
    for number in range(chance.choice((1, 1, 2))):
        parts = ["import java.util.*;", chance.choice(("", "import static other.Tree.*;"))]
        parts += [_java_class(chance, 0) for _ in range(chance.randint(1, 4))]
        if has_main and number == 0:
            uses = "\n".join(f"        {_use(chance, JAVA_USES)}" for _ in range(chance.randint(2, 12)))
            parts.append(f"class Main {{\n    public static void main(String[] args) {{\n{uses}\n    }}\n}}")
        texts.append("\n".join(parts) + "\n")
    return texts


def _java_class(chance: random.Random, depth: int) -> str:
    pad, name = "    " * depth, chance.choice(CLASSES)
    kind = chance.choice(("class", "class", "class", "interface", "enum"))
    above = ("", "", f" extends {chance.choice(CLASSES)}", " extends java.awt.Frame", " extends Base<Node>")
    clause = {
        "class": chance.choice((*above, " implements Comparable<Node>, Runnable")),
        "interface": chance.choice(above),
        "enum": "",
    }[kind]
    note = chance.choice(("", "", "", "", "@Entity ", '@SuppressWarnings("x") '))
    lines = [f"{pad}{note}{'static ' if depth else ''}{kind} {name}{clause} {{"]
    if kind == "enum":
        lines.append(f"{pad}    RED {{ void beta() {{ alpha(); }} }}, BLUE;")
    if kind == "class":
        lines.append(f"{pad}    int[] field = {{1, 2, {chance.choice(NAMES)}(3)}};")
        lines.append(f"{pad}    {name}(int n) {{ {_use(chance, JAVA_USES)} }}")
        lines.append(f"{pad}    static {{ {_use(chance, JAVA_USES)} }}")
    lines += [_java_member(chance, depth + 1, kind) for _ in range(chance.randint(1, 5))]
    return "\n".join((*lines, pad + "}"))


def _java_member(chance: random.Random, depth: int, kind: str) -> str:
    pad = "    " * depth
    if depth < 3 and chance.random() < 0.15:
        return _java_class(chance, depth)
    name = chance.choice((*NAMES, *NAMES, "toString", "compareTo"))
    note = chance.choice(("", "", "", "", "@Override ", "@Test ", '@SuppressWarnings("x") '))
    word = chance.choice(("", "public ", "private ", "static ", "private static ", "final "))
    if kind == "interface" and chance.random() < 0.5:
        return f"{pad}int {name}(int n);"
    word = "default " if kind == "interface" else word
    uses = " ".join(_use(chance, JAVA_USES) for _ in range(chance.randint(1, 2)))
    local = f"class {chance.choice(CLASSES)} {{ void {chance.choice(NAMES)}() {{ alpha(); }} }} "
    uses = local + uses if chance.random() < 0.1 else uses
    return f"{pad}{note}{word}<T> List<T> {name}(int n) throws Exception {{ {uses} }}"


def carrying_class(chance: random.Random, size: int) -> list[str]:
    """Return programs in Java for one task; each carries methods of a collection, most of which it never calls."""
    tasks = [
        f'int v{i} = read({i}) * {i} + other[{i}] - 1; if (v{i} > {i}) {{ System.out.println("value {i} of it"); }}'
        for i in range(9)
    ]
    shelf = [
        f'static int m{i}(int a, int b) {{ int s = 0; {"s = s * a + b; " * (i % 4 + 1)} say("method number {i}");'
        f" while (s > {i}) {{ s -= b; }} return s; }}"
        for i in range(12)
    ]
    texts = []
    for _ in range(size):
        own = chance.sample(tasks, chance.randint(5, 9))
        carried = chance.sample(shelf, chance.randint(0, 9))
        calls = " ".join(f"m{chance.randrange(12)}(1, 2);" for _ in range(chance.choice((0, 0, 1, 3))))
        methods = "\n    ".join(carried)
        start = "main" if chance.random() < 0.9 else "begin"
        texts.append(
            "import java.util.*;\n"
            f"class Task {{\n    public static void {start}(String[] args) {{ {' '.join(own)} {calls} }}\n"
            f"    {methods}\n}}\n"
        )
    return texts
