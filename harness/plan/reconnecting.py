"""How long clients may take to be back after a fault; so long, and more, load goes on after it."""

from harness.plan.clients import asks_name_servers
from harness.plan.model import Layout, Scenario

# AMQP clients dial every host within a second and pause for 0.1 s between rounds (dialling.py).
AMQP_RECONNECT_S = 2
# A client of name servers learns of a master that is back by its next poll, and may have begun a
# send to a dead one just before: that waits out the library's time limit.
SEND_LIMIT_S = 3
# What is due then is judged from 100 operations on, of a queue or publisher from 20 on
# (spark_analysis/schema/service.py): half as many again, since no load is even. That consumers get
# nothing for 5 s can only be seen in more than that.
SERVED_S = 6.0
ENOUGH, ENOUGH_OF_SCOPE = 150, 30


def reconnect_s(client: str, layout: Layout) -> int | None:
    """In seconds; None where nobody declares it, as of a cluster that somebody else set up."""
    if not asks_name_servers(client):
        return AMQP_RECONNECT_S
    told = layout.rocketmq
    return told.timers.poll_s + SEND_LIMIT_S if told else None


def healed_s(scenario: Scenario, client: str, layout: Layout) -> float:
    """So long the load goes on after the last fault at least: once healed, a cluster is to serve.
    0 where that is asked of nobody."""
    load = scenario.workload
    if not scenario.faults or not load.confirms or load.rate is None:
        return 0.0
    enough = max(ENOUGH, ENOUGH_OF_SCOPE * max(load.publishers, len(load.queues)))
    served_s = max(SERVED_S, enough / load.rate)
    return load.deadline_s + (reconnect_s(client, layout) or 0) + served_s
