"""PURE: the reference's command line for an order, and the node where it is run.

1. For a node that is down it changes its disk; it refuses if a node runs on that disk.
2. Its first word is always followed by the path of the node's configuration.
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
class OperatorCommand:
    host: str
    what: str
    words: tuple[str, ...] = ()
    instead: bool = False  # of the node, which is down; else beside it

    @property
    def text(self) -> str:
        """Return the command as text, for the record."""
        return " ".join((self.what, *self.words))

    def line(self, configuration: str) -> tuple[str, ...]:
        """What follows the interpreter."""
        return ("-m", "reference_impl", self.what, configuration, *self.words)


def command(order: Order) -> OperatorCommand | None:
    """What carries the order out; None where the command line does not."""
    match order:
        case AddNode(host=host, through=through):
            return OperatorCommand(host, "join", (through,))
        case ForgetNode(host=host, through=through, offline=False):
            return OperatorCommand(through, "forget", (host,))
        case ForgetNode(host=host, through=through):
            return OperatorCommand(through, "forget", (host, "--offline"), instead=True)
        case ForceBoot(host=host):
            return OperatorCommand(host, "force-boot", instead=True)
        case WipeNode(host=host):
            return OperatorCommand(host, "wipe", instead=True)
        case ResetNode(host=host):
            return OperatorCommand(host, "reset")
    return None
