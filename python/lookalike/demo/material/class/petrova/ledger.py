"""The ledger: one account for each member, moved by events."""

from collections import defaultdict
from functools import reduce


class UnknownAction(Exception):
    pass


def empty_state():
    return {"clock": 0, "open": {}, "paid": defaultdict(int), "popularity": defaultdict(int)}


def lend(state, when, key):
    state["open"][key] = when
    state["popularity"][key[1]] += 1
    return state


def accept(state, when, key, free, rate):
    began = state["open"].pop(key, None)
    if began is not None and when - began > free:
        state["paid"][key[0]] += (when - began - free) * rate
    return state


def step(free, rate):
    """Return the function that moves a state by one event."""
    actions = {
        "out": lend,
        "back": lambda state, when, key: accept(state, when, key, free, rate),
    }

    def apply(state, event):
        when, who, what, verb = event
        if verb not in actions:
            raise UnknownAction(verb)
        state["clock"] = when
        return actions[verb](state, when, (who, what))

    return apply


def settle(events, free, rate):
    """Return the state after all events, and the state if everything came back today."""
    now = reduce(step(free, rate), events, empty_state())
    returns = [(now["clock"], who, what, "back") for who, what in now["open"]]
    copy = {**now, "open": dict(now["open"]), "paid": defaultdict(int, now["paid"])}
    return now, reduce(step(free, rate), returns, copy)
