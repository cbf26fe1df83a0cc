"""What a run tells RocketMQ's clients, and how many of its messages are special to them."""

from collections import Counter

from harness.plan.declared import FEW
from harness.plan.model import Layout, RunPlan
from harness.plan.rocketmq_layout import POLL_DEFAULT_S
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.clients.rocketmq.terms import NO_DELAY, fate_of, level_of
from spark_analysis.schema.words import Fate


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
