"""One member's ledger: the tables, the members, and the recent log.

1. Versions have no gaps; the log has every entry after `base`, and nothing up to it.
2. The same entries give the same ledger on every member.
"""

from typing import Any

from reference_impl.metadata.messages import Admit, Entry, Snapshot, Term
from reference_impl.metadata.nodes import admit
from reference_impl.metadata.tables import Tables

NOTHING = -1  # the version of a node that is in no group


class Ledger:
    """Empty, in no group, until it is founded or copied."""

    def __init__(self) -> None:
        self.tables = Tables()
        self.members: dict[str, int] = {}  # name -> boot, the own node included
        self.base = NOTHING
        self.log: list[Entry] = []
        self.changes = 0  # grows with every change of tables or members

    @property
    def version(self) -> int:
        return self.tables.version if self.members else NOTHING

    def found(self, node: str, boot: int, tables: Tables) -> None:
        """A group of one."""
        assert not self.members, self.members
        self.tables, self.members, self.base = tables, {node: boot}, tables.version
        self.changes += 1

    def copy(self, snapshot: Snapshot) -> None:
        self.tables, self.members = snapshot.tables, dict(snapshot.members)
        self.base, self.log = self.tables.version, []
        self.changes += 1

    def snapshot(self, term: Term) -> Snapshot:
        """Independent of what happens here afterwards; records are never changed."""
        here = self.tables
        tables = Tables(
            version=here.version,
            nodes=here.nodes,
            forgotten=here.forgotten,
            exchanges=dict(here.exchanges),
            bindings=dict(here.bindings),
            links=dict(here.links),
            queues=dict(here.queues),
            policies=dict(here.policies),
            groups=dict(here.groups),
        )
        return Snapshot(term, tables, dict(self.members))

    def carry_out(self, entry: Entry) -> Any:
        """The command's result."""
        assert entry.version == self.version + 1, (entry, self.version)
        self.tables.version = entry.version
        self.log.append(entry)
        self.changes += 1
        command = entry.command
        if isinstance(command, Admit):
            self.members[command.node] = command.boot
            admit(self.tables, command.node)
            return None
        return command.apply(self.tables)

    def lose(self, node: str) -> None:
        del self.members[node]
        self.changes += 1

    def forget(self, stable: int) -> None:
        """The log up to there is not needed any more."""
        self.base = max(self.base, stable)
        self.log = [entry for entry in self.log if entry.version > self.base]

    def after(self, version: int) -> list[Entry] | None:
        """Return what a member at this version misses; None if the log does not reach back so
        far."""
        if version < self.base:
            return None
        return [entry for entry in self.log if entry.version > version]
