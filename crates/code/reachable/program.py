import functools
import sys
from dataclasses import dataclass


def main():
    stack = Stack()
    stack.push(3)
    print(stack, even(4), f"{formatted(2)}", [twice(x) for x in range(3)])
    handlers = {"a": on_a, "b": on_b}
    handlers[sys.argv[1] if len(sys.argv) > 1 else "a"]()
    ordered = sorted([3, 1], key=by_size)
    run(callback)
    area = Square(2).area()
    print(ordered, area, decorated(), Point(1, 2), method("visit"))

    def inner(n):
        return deeper(n)

    def unused_inner(n):  # dead
        return n + 1  # dead

    return inner(3)


def even(n):
    return n == 0 or odd(n - 1)


def odd(n):
    return n != 0 and even(n - 1)


def deeper(n):
    return n


def formatted(n):
    return n


def twice(x):
    return x * 2


def on_a():
    return 1


def on_b():
    return 2


def by_size(x):
    return -x


def run(call):
    return call()


def callback():
    return 5


def log(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@log
def decorated():
    return 1


def method(name):
    return name


def visit():
    return "named in a string"


def default(size=6):
    return size


def computed(size=default()):  # mixed
    return size  # dead


def gcd(a, b):  # dead
    return a if b == 0 else gcd(b, a % b)  # dead


def dead(n):  # dead
    return dead_too(n)  # dead


def dead_too(n):  # dead
    return dead(n - 1)  # dead


class Stack:
    limit = 10

    def __init__(self):
        self.items = []

    def __str__(self):
        return self.join()

    def push(self, item):
        self.items.append(item)

    def join(self):
        return ",".join(map(str, self.items))

    def peek(self):  # dead
        return self.items[-1]  # dead

    @property
    def top(self):  # dead
        return self.items[0]  # dead


@dataclass
class Point:
    x: int
    y: int

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def norm(self):  # dead
        return self.x + self.y  # dead


class Shape:
    def area(self):
        return 0


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side


class Tree:
    """Nobody makes one."""

    def __init__(self):  # dead
        self.root = None  # dead

    def area(self):  # dead
        return 0  # dead


if __name__ == "__main__":
    main()
