"""What a plan declares of a run: facts for claims' preconditions, and words that are ignored."""

from collections.abc import Iterator

from harness.outside.text import brief
from harness.plan.brought_facts import is_of_kind, kind_text
from harness.plan.clients.client_options import name_of
from harness.plan.clients.registry import registry
from harness.plan.clients.requirements import ChosenClient
from harness.plan.layouts.guarantees import Guarantees, NotApplicable
from harness.plan.model import Layout, RunPlan, Scenario, System
from harness.plan.problems import Problem

# --- Reconnecting --------------------------------------------------------------------------------
# How long clients may take to be back after a fault; so long, and more, load goes on after it.


# The analysis judges 100 due publishes or more, 20 for a queue or publisher
# (spark_analysis/schema/service.py): plan half as many again, since no load is even.
ENOUGH, ENOUGH_OF_SCOPE = 150, 30
CONSUMED_S = 6.0  # that consumers get nothing for 5 s can only be seen in more than that


def reconnect_s(client: ChosenClient, guarantees: Guarantees) -> int | None:
    """Return it in seconds; None if it is not declared, as for an external cluster."""
    by_itself = client.declared.reconnect_s
    if by_itself is None or not client.uses_name_servers:
        return by_itself
    # It learns of a master that is back by its next poll.
    poll_s = guarantees.route_poll_s
    return poll_s + by_itself if isinstance(poll_s, int) else None


def healed_s(scenario: Scenario, client: ChosenClient, guarantees: Guarantees) -> float:
    """Return how long the load goes on after the last fault at least.

    A healed cluster must serve then. 0 if that is not required.
    """
    load = scenario.workload
    if not scenario.faults or not load.confirms or load.rate is None:
        return 0.0
    enough = max(ENOUGH, ENOUGH_OF_SCOPE * max(load.publishers, len(load.queues)))
    served_s = max(CONSUMED_S if load.consumers else 0.0, enough / load.rate)
    return load.deadline_s + (reconnect_s(client, guarantees) or 0) + served_s


# --- Declared facts ------------------------------------------------------------------------------


Guaranteed = bool | str | int | float | None
Declared = bool | str | int | float | dict[str, str] | dict[str, int] | None
AT_LEAST = "at_least"  # {"at_least": n}: a lower bound; the number is unknown
NO_CLIENT_ENDPOINT = {
    "not_applicable": "clients get the address of every master from name servers"
}
NO_NAME_SERVERS = {"not_applicable": "clients of this system use no name server"}
# In the state of a window: the hosts whose name server its fault was aimed at.
NAME_SERVERS_HIT = "name_servers_hit"
FEW = 100  # a scenario that means to send fewer is judged by all that it sends


def ignored(plan: RunPlan) -> list[str]:
    """What the workload says that this run's client does not know."""
    return plan.client.ignored(plan.scenario.workload)


def ignored_text(section: str, client: str) -> str:
    """Return that a section does not apply to a client, and which key of it does.
    `client`: with or without options in its name."""
    known = registry().clients.get(name_of(client))
    key = known.family.foreign_keys.get(section, "") if known is not None else ""
    tail = f", except its key {key}" if key else ""
    return f"section [{section}]: it does not apply to {client}{tail}"


def shown(plan: RunPlan) -> list[str]:
    """How the workload makes this run's client differ from what it is by itself."""
    return plan.client.shown(plan.scenario.workload)


def declared(plan: RunPlan) -> dict[str, Declared]:
    """Return declared layout properties and workload choices: never a system's or layout's name.

    None: it is not declared, so it is unknown. {"not_applicable": why}: it does not apply here.
    """
    workload, layout = plan.scenario.workload, plan.layout
    guarantees, client = plan.system.guarantees(layout), plan.client
    by_name = client.uses_name_servers
    return {
        **client.facts(workload),
        **of_layout(plan.system, layout),
        "client_endpoint": NO_CLIENT_ENDPOINT if by_name else layout.client_endpoint,
        "confirms": workload.confirms,
        "durable": workload.durable,
        "persistent": workload.persistent,
        "retry": workload.retry.value,
        "consumers": workload.consumers,
        "acknowledges": workload.consumers > 0 and workload.acknowledge > 0,
        "no_ack": workload.consumers > 0 and workload.acknowledge == 0,
        "processing_s": workload.processing_s,
        "reconnect_s": reconnect_s(client, guarantees),
        "messages": _few(plan),
        "checks_within_s": _recorded(guarantees.checks_within_s),
        "faults": len(plan.schedule.windows),
        "operations": len(plan.schedule.steps),
    }


def of_layout(system: System, layout: Layout) -> dict[str, Declared]:
    """Return what a system declares of a layout, whatever is played on it."""
    guarantees = system.guarantees(layout)
    return {
        **{name: _recorded(one.value(layout)) for name, one in system.facts.items()},
        "copies": layout.copies,
        "masters": guarantees.masters,
        "synchronise": layout.synchronise or None,
        "partition_handling": layout.partition_handling or None,
        "mirrored_on": _recorded(guarantees.mirrored_on),
        "promote_on_shutdown": _recorded(guarantees.promote_on_shutdown),
        "promote_on_failure": _recorded(guarantees.promote_on_failure),
        "elects": guarantees.elects,
        "elects_by_majority": guarantees.elects_by_majority,
        "detection_timeout_s": layout.detection_timeout_s,
        "route_poll_s": _recorded(guarantees.route_poll_s),
        "confirm_waits_for_mirrors": guarantees.confirm_waits_for_mirrors,
        "confirm_waits_for_majority": guarantees.confirm_waits_for_majority,
        "confirm_waits_for_disk": guarantees.confirm_waits_for_disk,
        "progress_kept_by": guarantees.progress_kept_by,
    }


def wrong_values(
    system: System, layout: Layout, client: ChosenClient, scenario: Scenario
) -> Iterator[Problem]:
    """Yield the values that are not of the type that their package declares."""
    advice = "correct what gives the value, in its package"
    for name, one in system.facts.items():
        value = one.value(layout)
        if not (value is None or isinstance(value, NotApplicable) or is_of_kind(one.fact, value)):
            text = f"{system.name} gives the fact {brief(name)} the value {brief(value)}"
            expected = f"{kind_text(one.fact)}, None (unknown), or NotApplicable with a reason"
            yield Problem(layout.label, text, expected=expected, advice=advice)
    section = client.declared.family.section
    own = section.own_facts if section is not None else {}
    for name, given in client.facts(scenario.workload).items():
        if name in own and given is not None and not is_of_kind(own[name], given):
            text = f"its section gives the fact {brief(name)} the value {brief(given)}"
            expected = f"{kind_text(own[name])}, or None (unknown)"
            yield Problem(client.word, text, expected=expected, advice=advice)


def _few(plan: RunPlan) -> int | None:
    """How many publishes are planned, where they are few on purpose."""
    rate = plan.scenario.workload.rate
    if rate is None:
        return None
    planned = int(rate * plan.schedule.load_s)
    return planned if planned < FEW else None


def _recorded(guaranteed: Guaranteed | NotApplicable) -> Declared:
    return (
        {"not_applicable": guaranteed.why} if isinstance(guaranteed, NotApplicable) else guaranteed
    )
