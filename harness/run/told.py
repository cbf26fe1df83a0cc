"""What a run tells clients of their own options, and how many of its messages are special to them.

So far only one family of clients has any; the others are told the same, and look at none of it.
"""

from collections import Counter

from harness.plan.clients.rocketmq_terms import NO_DELAY, fate_of, level_of
from harness.plan.declared import FEW
from harness.plan.model import RunPlan
from harness.workers.clients.rocketmq.options import RocketOptions
from spark_analysis.schema.words import Fate


def options(plan: RunPlan) -> RocketOptions:
    """Of every worker of the run."""
    own = plan.scenario.workload.rocketmq
    servers = plan.system.servers(plan.layout)
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
        settings=servers.client_settings,
        jvm=servers.client_flags,
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
