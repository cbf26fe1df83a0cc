"""What a run does otherwise where brokers are RocketMQ's: options of its clients, confirms, audit.

1. A client is told all name servers; which one it asks is its own choice, and on record.
2. Whoever drains waits as long as a message may be held back from the end of the load on.
3. Each broker's log is read by an auditor of its own, masters and slaves alike; a log that has not
   been read to its end may hold anything.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.cluster.port import Link
from harness.plan.declared import FEW
from harness.plan.model import Layout, RunPlan, Workload
from harness.plan.rocketmq_layout import (
    NAME_SERVER,
    POLL_DEFAULT_S,
    Server,
    brokers,
    topic_of,
)
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.clients.rocketmq.terms import NO_DELAY, delay_ns, fate_of, level_of
from harness.workers.protocol import Endpoint
from spark_analysis.schema.words import Fate

QUIET_S = 2.0  # without a delay
DELAY_SLACK_S = 3.0  # brokers look for what is due once a second


def queue_name(plan: RunPlan, queue: str) -> str:
    """A queue's name as workers give it to the broker."""
    return queue if plan.layout.rocketmq is None else topic_of(queue)


def options(plan: RunPlan) -> RocketOptions:
    """Of every worker of the run."""
    own = plan.scenario.workload.rocketmq
    return RocketOptions(
        producer=own.send,
        consumer=own.consume,
        send_timeout_ms=own.send_timeout_ms,
        delayed_percent=own.delayed_percent,
        delay_level=own.delay_level,
        transactional_percent=own.transactional_percent,
        fates=own.fates,
        threads=own.threads,
        batch=own.batch,
        settings=_settings(plan.layout),
        jvm=plan.layout.rocketmq.client_jvm if plan.layout.rocketmq else (),
    )


def planned(plan: RunPlan) -> dict[str, int | None]:
    """How many messages are to wait, and how many are in transactions, where these are few on
    purpose: facts that claims ask for; None where there are many, or nobody can tell."""
    workload, own = plan.scenario.workload, options(plan)
    each = (workload.rate or 0) / workload.publishers
    special = own.delayed_percent or own.transactional_percent
    sequences = range(int(each * plan.schedule.load_s) if special else 0)
    fates = Counter(fate_of(own, sequence) for sequence in sequences)
    delayed = sum(level_of(own, sequence) != NO_DELAY for sequence in sequences)
    numbers = {
        "delayed_messages": delayed,
        "messages_in_transactions": fates.total() - fates[Fate.NONE],
        "messages_to_commit": fates[Fate.COMMIT],
        "messages_to_ask": fates[Fate.COMMIT_WHEN_ASKED],
    }
    every = {name: number * workload.publishers for name, number in numbers.items()}
    return {name: number if 0 < number < FEW else None for name, number in every.items()}


def _settings(layout: Layout) -> tuple[tuple[str, str], ...]:
    """The library's own default is left alone."""
    if layout.rocketmq is None or layout.rocketmq.timers.poll_s == POLL_DEFAULT_S:
        return ()
    return (("pollNameServerInterval", str(layout.rocketmq.timers.poll_s * 1000)),)


def delay_s(workload: Workload) -> float:
    """How much longer than others a drain may last, for what was sent to come later."""
    own = workload.rocketmq
    return delay_ns(own.delay_level) / 1e9 + DELAY_SLACK_S if own.delayed_percent else 0.0


def quiet_s(workload: Workload) -> float:
    """How long nothing may come before a queue is held for empty: a drain begins after the last
    send, so that by then everything that was delayed is due."""
    return QUIET_S + delay_s(workload)


def in_order(workload: Workload, serving: int) -> bool:
    """Whether a key's messages come in the order in which they were sent, with so many consumers
    on its topic: one log, whose messages are handed out one after another."""
    own = workload.rocketmq
    if own.send != "ordered":
        return False
    return own.consume == "orderly" or (own.consume == "pull" and serving <= 1)


def name_servers(links: Iterable[Link]) -> tuple[Endpoint, ...]:
    return tuple(link.endpoint for link in links if link.process == NAME_SERVER)


def logs(layout: Layout) -> tuple[Server, ...]:
    """The brokers that each keep a log; empty where queues are drained, and not read."""
    return brokers(layout.hosts) if layout.rocketmq is not None else ()


def way_to(links: Sequence[Link], broker: Server) -> Endpoint | None:
    """None: no link leads there."""
    ends = (
        link.endpoint
        for link in links
        if (link.host, link.process) == (broker.host, broker.process)
    )
    return next(ends, None)
