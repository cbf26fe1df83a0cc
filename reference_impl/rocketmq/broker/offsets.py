"""The consumed offset of each group in each queue (docs/behaviour/rocketmq.md 3.2).

1. A commit counts, wherever it goes: back, too.
2. They are on the disk as of the last flush of offsets: what was committed since is lost with the
   process, and consumed again.
"""

import msgspec

from reference_impl.rocketmq.store.disk import Disk

DOCUMENT = "config/consumerOffset.json"
_PART = "@"

Table = dict[str, dict[str, int]]  # by "topic@group" and number of the queue


class Document(msgspec.Struct, rename="camel"):
    offset_table: Table = {}


class Offsets:
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        kept = disk.document(DOCUMENT)
        self._table: Table = {} if kept is None else read(kept)
        self._changed = False

    def get(self, group: str, topic: str, queue: int) -> int | None:
        return self._table.get(_key(topic, group), {}).get(str(queue))

    def topics(self, group: str) -> list[str]:
        """Return the topics that it ever committed an offset of."""
        keys = (key.partition(_PART) for key in self._table)
        return sorted(topic for topic, _, one in keys if one == group)

    def commit(self, group: str, topic: str, queue: int, offset: int) -> None:
        self._table.setdefault(_key(topic, group), {})[str(queue)] = offset
        self._changed = True

    def forget_topic(self, topic: str) -> None:
        self._drop([key for key in self._table if key.partition(_PART)[0] == topic])

    def forget_group(self, group: str) -> None:
        self._drop([key for key in self._table if key.partition(_PART)[2] == group])

    def all(self) -> bytes:
        return msgspec.json.encode(Document(self._table))

    def copy(self, table: Table) -> None:
        """Copy what a slave's master has: nothing of the slave's own remains of those queues."""
        self._table.update(table)
        self._changed = True

    def flush(self) -> None:
        if self._changed:
            self._disk.keep(DOCUMENT, self.all())
            self._changed = False

    def _drop(self, keys: list[str]) -> None:
        for key in keys:
            del self._table[key]
            self._changed = True


def read(document: bytes) -> Table:
    """Raises one of fields.UNREADABLE."""
    return msgspec.json.decode(document, type=Document).offset_table


def _key(topic: str, group: str) -> str:
    return f"{topic}{_PART}{group}"
