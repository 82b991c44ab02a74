"""Who talks to the port of MOSS: strangers, who have not shown a token yet, and members, who have.

Strangers have a few seconds and places of their own; if these are full, the oldest stranger goes, so a client with a
token gets in however many sockets others open. Of the places of members, one token has at most as many as are free.
Cost: constant per connection, linear in the members when one is admitted.
"""

from __future__ import annotations

from typing import Protocol

from lookalike import params


class Guest(Protocol):
    """One connection."""

    def evict(self, reason: str) -> None:
        """End the conversation."""


class FullHouseError(Exception):
    """There is no place. The message is the reason."""


class Guests:
    """The connections of a port."""

    def __init__(self, *, is_shared: bool) -> None:
        """Begin with none; ``is_shared``: whether there are several tokens that share the places."""
        self._is_shared = is_shared
        #: The oldest first.
        self._strangers: dict[Guest, None] = {}
        #: With the id of their token.
        self._members: dict[Guest, str] = {}

    def enter(self, guest: Guest) -> None:
        """Take a connection that has just been made. Errors: ``FullHouseError``."""
        if len(self._members) >= params.MOSS_CONNECTIONS:
            raise FullHouseError(f"more than {params.MOSS_CONNECTIONS} connections")
        if len(self._strangers) >= params.MOSS_STRANGERS:
            self._evict(next(iter(self._strangers)), "others came before it showed a token")
        self._strangers[guest] = None

    def admit(self, guest: Guest, owner: str) -> None:
        """Take a guest who has shown a token as a member. Errors: ``FullHouseError``; then it stays a stranger."""
        free = params.MOSS_CONNECTIONS - len(self._members)
        own = sum(one == owner for one in self._members.values())
        if free <= 0 or (self._is_shared and own >= free):
            raise FullHouseError(
                f"{own} connections of your token are open, and {free} are left for others: try again later"
            )
        self._strangers.pop(guest, None)
        self._members[guest] = owner
        if len(self._members) >= params.MOSS_CONNECTIONS:
            for one in list(self._strangers):
                self._evict(one, f"more than {params.MOSS_CONNECTIONS} connections")

    def leave(self, guest: Guest) -> None:
        """Forget a connection that has ended."""
        self._strangers.pop(guest, None)
        self._members.pop(guest, None)

    def _evict(self, guest: Guest, reason: str) -> None:
        del self._strangers[guest]
        guest.evict(reason)
