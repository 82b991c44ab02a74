def square(n):
    return n * n


def cube(n):  # dead
    return n * n * n  # dead
