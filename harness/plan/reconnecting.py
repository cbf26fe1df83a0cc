"""How long clients may take to be back after a fault; so long, and more, load goes on after it."""

from harness.plan.clients.declaration import Finds
from harness.plan.clients.registry import named
from harness.plan.guarantees import Guarantees
from harness.plan.model import Scenario

# The analysis judges 100 due publishes or more, 20 for a queue or publisher
# (spark_analysis/schema/service.py): plan half as many again, since no load is even.
ENOUGH, ENOUGH_OF_SCOPE = 150, 30
CONSUMED_S = 6.0  # that consumers get nothing for 5 s can only be seen in more than that


def reconnect_s(client: str, guarantees: Guarantees) -> int | None:
    """Return it in seconds; None if it is not declared, as for an external cluster."""
    known = named(client)
    if known.reconnect_s is None or known.family.finds is Finds.HOSTS:
        return known.reconnect_s
    # It learns of a master that is back by its next poll.
    poll_s = guarantees.route_poll_s
    return poll_s + known.reconnect_s if isinstance(poll_s, int) else None


def healed_s(scenario: Scenario, client: str, guarantees: Guarantees) -> float:
    """Return how long the load goes on after the last fault at least.

    A healed cluster must serve then. 0 if that is not required.
    """
    load = scenario.workload
    if not scenario.faults or not load.confirms or load.rate is None:
        return 0.0
    enough = max(ENOUGH, ENOUGH_OF_SCOPE * max(load.publishers, len(load.queues)))
    served_s = max(CONSUMED_S if load.consumers else 0.0, enough / load.rate)
    return load.deadline_s + (reconnect_s(client, guarantees) or 0) + served_s
