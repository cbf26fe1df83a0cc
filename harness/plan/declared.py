"""What a plan declares of a run: facts for claims' preconditions, and words that are ignored."""

from harness.plan.clients import asked
from harness.plan.model import Layout, RunPlan
from harness.plan.reconnecting import reconnect_s
from harness.plan.rocketmq_checks import ASKED_WITHIN_S
from harness.plan.rocketmq_layout import MASTER_ID, SYNC, brokers

Declared = bool | str | int | float | dict[str, str] | None
NOT_AMQP = {"moot": "its clients do not speak AMQP"}
NEVER_ASKED = {"moot": "its brokers ask about no transaction"}
NO_ENTRANCE = {"moot": "clients enter nowhere: name servers show them every master"}
NO_NAME_SERVERS = {"moot": "its clients ask no name server"}
FEW = 100  # a scenario that means to send fewer is judged by all that it sends


def ignored(plan: RunPlan) -> list[str]:
    """What the workload says that this run's client does not know."""
    return asked.ignored(plan.client, plan.scenario.workload)


def declared(plan: RunPlan) -> dict[str, Declared]:
    """Declared layout properties and workload choices: never a system's or layout's name.

    None: nobody has declared it, so that it is unknown; {"moot": why}: it makes no sense here.
    """
    workload, layout = plan.scenario.workload, plan.layout
    told = layout.rocketmq
    by_name = asked.asks_name_servers(plan.client)
    amqp = asked.reads_amqp(plan.client)
    return {
        "copies": layout.copies,
        "masters": _masters(layout),
        "synchronise": layout.synchronise or None,
        "partition_handling": layout.partition_handling or None,
        "entrance": NO_ENTRANCE if by_name else layout.entrance,
        "mirrored_on": _policy(layout, "ha-mode", "none", "none"),
        "promote_on_shutdown": _policy(layout, "ha-promote-on-shutdown", "when-synced", "never"),
        "promote_on_failure": _policy(layout, "ha-promote-on-failure", "always", "never"),
        "elects": layout.rocketmq is None,  # whatever policies say: no slave is ever elected
        "timer_s": layout.timer_s,
        "route_poll_s": told.timers.poll_s if told else NO_NAME_SERVERS,
        "confirms": workload.confirms,
        # By RabbitMQ's rules the confirm of a persistent message always waits for both.
        "confirm_waits_for_mirrors": told is None or told.replication == SYNC,
        "confirm_waits_for_disk": told is None or told.flush == SYNC,
        "durable": workload.durable,
        "persistent": workload.persistent,
        "mandatory": workload.amqp.mandatory if amqp else NOT_AMQP,
        "retry": workload.retry.value,
        "consumers": workload.consumers,
        "acknowledges": workload.consumers > 0 and workload.acknowledge > 0,
        "no_ack": workload.consumers > 0 and workload.acknowledge == 0,
        "cancel_on_ha_failover": workload.amqp.cancel_on_ha_failover if amqp else NOT_AMQP,
        "reconnect_s": reconnect_s(plan.client, plan.layout),
        "messages": _few(plan),
        "asks_within_s": NEVER_ASKED if told is None else ASKED_WITHIN_S,
        "faults": len(plan.schedule.windows),
        "operations": len(plan.schedule.steps),
    }


def _few(plan: RunPlan) -> int | None:
    """How many operations are planned, where they are few on purpose."""
    rate = plan.scenario.workload.rate
    if rate is None:
        return None
    planned = int(rate * plan.schedule.load_s)
    return planned if planned < FEW else None


def _masters(layout: Layout) -> int:
    """A topic lies on all groups of brokers, each with a master of its own."""
    if layout.rocketmq is None:
        return 1
    return sum(one.id == MASTER_ID for one in brokers(layout.hosts))


def _policy(layout: Layout, key: str, default: str, of_logs: str) -> str | None:
    """What the layout's policies say; a broker that says nothing keeps to its default. None: of a
    cluster that somebody else set up nobody has declared it. `of_logs`: of RocketMQ, which knows
    no policies: its slaves never are masters by themselves."""
    if layout.topology is not None:
        return None
    if layout.rocketmq is not None:
        return of_logs
    said = [str(value) for policy in layout.policies for k, value in policy.definition if k == key]
    return said[-1] if said else default
