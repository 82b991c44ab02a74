def twice(n):
    return n + n


def thrice(n):  # dead
    return n + n + n  # dead
