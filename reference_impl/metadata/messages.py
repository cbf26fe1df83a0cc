"""Messages of the members of a group about their tables (replication.py)."""

from typing import NamedTuple

import msgspec

from reference_impl.metadata.commands import Command
from reference_impl.metadata.tables import Tables


class Term(NamedTuple):
    """Of two, the higher number is the later; names make the order total."""

    number: int
    leader: str


class Id(NamedTuple):
    """A requester's command; counters of one boot grow by one."""

    node: str
    boot: int
    counter: int


class Admit(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Stands in the log between commands: from here on this node is a member."""

    node: str
    boot: int


class Entry(msgspec.Struct, frozen=True, array_like=True):
    version: int
    id: Id
    command: Command | Admit


class Submit(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To the leader; who does not lead does not take it."""

    id: Id
    command: Command


class Commit(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """From the leader. Everything up to `stable` has been carried out by every member."""

    term: Term
    entry: Entry
    stable: int


class Applied(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To the leader: everything up to this version is carried out here."""

    term: Term
    version: int


class Settled(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """From the leader to a requester or a newcomer."""

    stable: int


class Take(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Its sender takes over; who answers hears no older leader any more."""

    term: Term


class Took(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The answer: how far this member is, and its recent log."""

    term: Term
    version: int
    entries: tuple[Entry, ...]


class Lead(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The sender leads from now on; every member has what any had."""

    term: Term
    stable: int


class Need(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To the member whose turn it is: the leader of this term is lost."""

    term: Term


class Snapshot(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To a newcomer: everything, its own admission included."""

    term: Term
    tables: Tables
    members: dict[str, int]


Message = Submit | Commit | Applied | Settled | Take | Took | Lead | Need | Snapshot
