"""PURE: what the reference's command line is told for an order, and at which node.

1. A node that is down is told by its disk; the command line itself refuses where one runs on it.
2. Whatever it is told, its first word is followed by the path of the node's configuration.
"""

from dataclasses import dataclass

from harness.cluster.orders import (
    AddNode,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    WipeNode,
)


@dataclass(frozen=True, slots=True)
class Command:
    host: str
    what: str
    words: tuple[str, ...] = ()
    instead: bool = False  # of the node, which is down; else beside it

    @property
    def text(self) -> str:
        """For whoever reads what became of it."""
        return " ".join((self.what, *self.words))

    def line(self, configuration: str) -> tuple[str, ...]:
        """What follows the interpreter."""
        return ("-m", "reference_impl", self.what, configuration, *self.words)


def command(order: Order) -> Command | None:
    """What carries the order out; None where the command line does not."""
    match order:
        case AddNode(host=host, through=through):
            return Command(host, "join", (through,))
        case ForgetNode(host=host, through=through, offline=False):
            return Command(through, "forget", (host,))
        case ForgetNode(host=host, through=through):
            return Command(through, "forget", (host, "--offline"), instead=True)
        case ForceBoot(host=host):
            return Command(host, "force-boot", instead=True)
        case WipeNode(host=host):
            return Command(host, "wipe", instead=True)
        case ResetNode(host=host):
            return Command(host, "reset")
    return None
