"""The peers of a node and the links to them: who can be heard, and who has fallen silent.

`names` are those of its cluster (known.py); others may have a link while they are being admitted.

1. A link that is lost may be made again; whether its peer is still a member is not decided here.
2. A peer from which nothing came for SILENT_TICKS ticks, each a quarter of the net tick time, is
   lost: a peer that falls silent is noticed after 0.75 to 1.25 net tick times
   (docs/behaviour/rabbitmq.md 3.8), as it has sent its last sign of life up to a quarter before.
3. A peer counts as tried when it has told its state, or could not be reached.
"""

from reference_impl.node.gossip import State

SILENT_TICKS = 4


class Peers:
    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.linked: dict[str, int] = {}  # name -> boot
        self.states: dict[str, State] = {}  # of linked peers
        self._dialling: set[str] = set()
        self._tried: set[str] = set()
        self._silent_ticks: dict[str, int] = {}

    def link(self, node: str, boot: int) -> None:
        self.linked[node] = boot
        self._silent_ticks[node] = 0
        self._dialling.discard(node)

    def unlink(self, node: str) -> None:
        del self.linked[node]
        del self._silent_ticks[node]
        self.states.pop(node, None)

    def heard_state(self, node: str, state: State) -> None:
        self.states[node] = state
        self._tried.add(node)

    def failed(self, node: str) -> None:
        """A dial has failed."""
        self._dialling.discard(node)
        self._tried.add(node)

    def to_dial(self) -> list[str]:
        """Return those to whom no link stands or is being made; it is, from now on."""
        names = [it for it in self.names if it not in self.linked and it not in self._dialling]
        self._dialling.update(names)
        return names

    def members_linked(self) -> frozenset[str]:
        return frozenset(self.linked).intersection(self.names)

    def all_tried(self) -> bool:
        return self._tried.issuperset(self.names)

    def all_have_reported(self) -> bool:
        return self.states.keys() == self.linked.keys()

    def ticked(self, heard: frozenset[str]) -> list[str]:
        """Return those that have been silent too long by now."""
        for node in self.linked:
            self._silent_ticks[node] = 0 if node in heard else self._silent_ticks[node] + 1
        return [node for node, ticks in self._silent_ticks.items() if ticks >= SILENT_TICKS]
