"""Changes that an operator made to a node's disk while it was down (docs/behaviour/rabbitmq.md
items 52, 54).

Such a node waits for no other at its next boot, and its tables are newer than those of any other
node that waits: `rabbitmqctl` has it load them by force.
"""

from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.messages import Term
from reference_impl.metadata.nodes import FORGOTTEN, NOT_FORGOTTEN, ForgetNode
from reference_impl.metadata.tables import Tables
from reference_impl.node.happenings import Saved


class Undone(ValueError):
    """An impossible change; the text says why."""


def forgetting(saved: Saved | None, me: str, node: str) -> Saved:
    """Raises Undone."""
    found = forced(saved, me)
    if node == me:
        raise Undone(f"{me} cannot forget itself")
    result = ForgetNode(node, ()).apply(found.tables)
    if result != FORGOTTEN:
        raise Undone(NOT_FORGOTTEN[result].format(node))
    found.tables.version += 1
    return found


def forced(saved: Saved | None, me: str) -> Saved:
    """Raises Undone."""
    if saved is None or saved.tables.version == NOTHING:
        raise Undone(f"{me} has no tables: it was never in a cluster")
    return Saved(saved.tables, Term(saved.term.number + 1, me), ())


def joining(me: str, through: str) -> Saved:
    """Nothing but whom it is to join: it founds no cluster of its own."""
    tables = Tables(version=NOTHING, nodes=tuple(sorted((me, through))))
    return Saved(tables, Term(0, ""), (through,))
