"""Whether a scenario means anything on a layout: the reasons why not.

1. A reason names the word and what the layout lacks; an empty list means that the cell can run.
2. Only what a layout declares is asked: what a cluster turns out to be is asked when it stands.
"""

from collections.abc import Iterator

from faults.core.kind import Kind, Sight
from faults.core.mechanisms import COMPOSE, TOXIPROXY
from faults.core.targets import CLIENT_LINK
from faults.kinds import by_signals
from harness.outside.text import brief
from harness.plan.checks import demands, operable, overlaps, process_targets
from harness.plan.checks.permission import forbidden, permitted
from harness.plan.clients.requirements import ChosenClient, wanted_by
from harness.plan.files import references
from harness.plan.files.targets import Target, TargetForm
from harness.plan.layouts import worker_addresses
from harness.plan.layouts.layout_values import BALANCERS
from harness.plan.layouts.topology import EMBEDDED
from harness.plan.model import Layout, Scenario, System
from harness.plan.workload import BootstrapAddress


def obstacles(
    scenario: Scenario, system: System, layout: Layout, client: ChosenClient, deployment: str
) -> list[str]:
    """Every reason why this cell is NOT APPLICABLE."""
    reasons = []
    if client.name not in system.clients:
        reasons.append(f"{system.name} has no client {client.name}")
    else:
        wanted = [
            *client.wanted(scenario.workload),
            *wanted_by(system.servers(layout)),
            *(layout.topology.client_capabilities if layout.topology else ()),
        ]
        reasons += client.obstacles(wanted)
        reasons += client.layout_obstacles(scenario.workload, system.servers(layout))
        reasons += demands.obstacles(system, client, scenario.workload)
        reasons += client.size_obstacles(scenario.workload)
        reasons += client.drain_obstacles()
    reasons += layout_obstacles(system, layout, deployment)
    reasons += fault_obstacles(scenario, system, layout, client, deployment)
    reasons += operable.obstacles(scenario, system, layout, deployment)
    reasons += worker_addresses.obstacles(scenario, system.servers(layout))
    hosts = [host.name for host in layout.hosts]
    if (at := scenario.workload.declared_at) and at not in hosts:
        reasons.append(f"declared_at: no host {brief(at)} (there are {', '.join(hosts)})")
    for who, entry in (
        ("publisher_endpoint", scenario.workload.publisher_endpoint),
        ("consumer_endpoint", scenario.workload.consumer_endpoint),
    ):
        if not client.uses_name_servers:
            entering = _entry_obstacles(entry, scenario, layout)
            reasons += [f"{who}: {reason}" for reason in entering]
    return reasons


def layout_obstacles(system: System, layout: Layout, deployment: str) -> list[str]:
    """Return every reason why the layout cannot be started so, whatever is played on it."""
    reasons = []
    if deployment not in system.deployments:
        reasons.append(f"{system.name} cannot be deployed by {deployment}")
    if layout.partition_handling in system.cannot_handle:
        why = system.cannot_handle[layout.partition_handling]
        reasons.append(f"{system.name} cannot do {layout.partition_handling}: {why}")
    if layout.peer_links == TOXIPROXY and deployment in system.direct_peers:
        why = system.direct_peers[deployment]
        reasons.append(f"{system.name} has direct peer links by {deployment}: {why}")
    if layout.client_tcp_retries2 is not None and deployment != COMPOSE:
        reasons.append(f"client_tcp_retries2 would be the whole machine's by {deployment}")
    if layout.balancers and deployment != COMPOSE:
        reasons.append(
            f"clients connect through {layout.client_endpoint}, which only {COMPOSE} has"
        )
    if system.versions is not None:
        reasons += system.versions.obstacles(layout.version)
        default = "" if layout.image else layout.file_version or system.versions.default
        reasons += system.versions.too_old(layout.version or default, layout.needs_version)
        reasons += system.versions.too_new(layout.version or default, layout.needs_earlier)
    return reasons


def fault_obstacles(
    scenario: Scenario, system: System, layout: Layout, client: ChosenClient, deployment: str
) -> Iterator[str]:
    """Yield every reason why a fault of the scenario means nothing here."""
    yield from _fault_obstacles(scenario, system, layout, client, deployment)
    yield from _length_obstacles(scenario, layout, deployment)


def _fault_obstacles(
    scenario: Scenario, system: System, layout: Layout, client: ChosenClient, deployment: str
) -> Iterator[str]:
    for number, fault in enumerate(scenario.faults, start=1):
        target = fault.target
        if target.of_balancers or target.host in layout.balancers:
            for reason in _balancer_obstacles(target, fault.kind, layout):
                yield f"fault {number}: {reason}"
            continue
        target_reasons = (
            process_targets.obstacles(target, fault.kind, system, layout, client, deployment)
            if target.of_processes
            else _target_obstacles(target, scenario, layout)
        )
        for reason in target_reasons:
            yield f"fault {number}: {reason}"
        if layout.is_balanced and fault.kind.applies_to == CLIENT_LINK:
            yield (
                f"fault {number}: a {fault.kind} means clients' links to a host, and theirs lead "
                f"to a balancer"
            )
        # As a fault's target the word means a host that holds no copy of any queue.
        if target.form is TargetForm.UNINVOLVED and (layout.copies or 0) >= len(layout.hosts):
            reason = "every host holds a copy"
            yield f"fault {number}: target {brief(target.word)} matches no host: {reason}"
        why = fault.options.needs_greeting
        if why and not system.servers(layout).speaks_first:
            silent = f"a server of {system.name} sends nothing without a request"
            yield f"fault {number}: {silent}, so {why}"
        if why := fault.options.layout_problem(fault.kind.name, len(layout.hosts)):
            yield f"fault {number}: {why}"
        if fault.kind.name in system.cannot:
            why = system.cannot[fault.kind.name]
            yield f"fault {number}: {system.name} can suffer no {fault.kind}: {why}"
        elif why := system.cannot_by.get(deployment, {}).get(fault.kind.name, ""):
            whose = f"by {deployment}, {system.name}"
            yield f"fault {number}: {whose} can suffer no {fault.kind}: {why}"
        elif (only_on := fault.kind.only_on) and system.name not in only_on:
            only = ", ".join(only_on)
            yield f"fault {number}: {system.name} can suffer no {fault.kind}: only {only} can"
        elif not fault.kind.mechanism(deployment, layout.peer_links):
            why = fault.kind.why_not.get(deployment, "it is not implemented")
            yield f"fault {number}: {deployment} offers no {fault.kind}: {why}{_offered(layout)}"
        elif (resource := fault.options.exhausted) and not _has_alarm(system, resource):
            what = f"{resource} alarm"
            yield f"fault {number}: {system.name} can suffer no {fault.kind}: it has no {what}"
        elif layout.topology is not None:
            for reason in forbidden(fault, layout.topology):
                yield f"fault {number}: {reason}"


def _has_alarm(system: System, resource: str) -> bool:
    return system.alarms is not None and resource in system.alarms.raised


def _length_obstacles(scenario: Scenario, layout: Layout, deployment: str) -> Iterator[str]:
    """Check the windows' lengths: only here are lengths in layout timers known in seconds."""
    active = {
        number: overlaps.active_fault_of(
            fault, layout.detection_timeout_s, bool(scenario.operations)
        )
        for number, fault in enumerate(scenario.faults, start=1)
    }
    pausing = layout.partition_handling in overlaps.PAUSING
    pauses = overlaps.Pauses(layout.detection_timeout_s) if pausing else None
    toxiproxied = list(_toxiproxied(layout, deployment))
    texts = list(overlaps.problems(active, pauses, toxiproxied))
    opens_s = {number: each.opens_s for number, each in active.items()}
    targets = {number: each.target for number, each in active.items()}
    texts += references.problems(targets, opens_s)
    for number, fault in enumerate(scenario.faults, start=1):
        text = fault.options.window_problem(fault.lasts.resolve_s(layout.detection_timeout_s))
        texts += [(number, text)] if text else []
    for number, text in texts:
        yield f"fault {number}: {text}, where T = {layout.detection_timeout_s:g} s"


def _toxiproxied(layout: Layout, deployment: str) -> Iterator[Sight]:
    """Yield the links that pass a real Toxiproxy."""
    own = layout.topology.proxy if layout.topology else None
    if deployment == COMPOSE or (own is not None and own.start != EMBEDDED):
        yield Sight.CLIENT_LINKS
    if layout.peer_links == TOXIPROXY:
        yield Sight.PEER_LINKS


def _balancer_obstacles(target: Target, kind: Kind, layout: Layout) -> Iterator[str]:
    wanted = 2 if target.form is TargetForm.STANDBY_BALANCER else 1
    if len(layout.balancers) < wanted:
        found = ", ".join(layout.balancers) or "none"
        ways = " or ".join(way for way, names in BALANCERS.items() if len(names) >= wanted)
        yield (
            f"target {brief(target.word)} matches no balancer: the layout has client_endpoint = "
            f"{layout.client_endpoint!r} and these balancers: {found}; choose a layout with "
            f"client_endpoint = {ways}"
        )
    elif not kind.strikes_processes:
        yield f"{target.word} can suffer no {kind}, only {', '.join(by_signals())}"


def _offered(layout: Layout) -> str:
    return f"; it allows {permitted(layout.topology)}" if layout.topology is not None else ""


def _entry_obstacles(entry: BootstrapAddress, scenario: Scenario, layout: Layout) -> Iterator[str]:
    targets = [entry.target] if entry.target else []
    for target in (*targets, *(Target(host, TargetForm.HOST, host=host) for host in entry.hosts)):
        yield from _target_obstacles(target, scenario, layout)


def _target_obstacles(target: Target, scenario: Scenario, layout: Layout) -> Iterator[str]:
    names = [host.name for host in layout.hosts]
    if target.host and target.host not in names:
        yield f"no host {brief(target.host)} (there are {', '.join(names)})"
    yield from operable.no_such_mirror(target, layout)
    if target.form is TargetForm.UNINVOLVED and len(_meant(scenario, layout)) >= len(names):
        every = f"the faults may mean every one of {len(names)} hosts"
        yield f"target {brief(target.word)} matches no host: {every}"


def _meant(scenario: Scenario, layout: Layout) -> set[str]:
    """The fault targets of a scenario that mean brokers' hosts, as words; each means one."""
    return {
        one.word
        for one in (fault.target for fault in scenario.faults)
        if one.form is not TargetForm.UNINVOLVED
        and not (one.of_clients or one.of_balancers or one.word in layout.balancers)
    }
