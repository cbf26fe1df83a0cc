"""What an experiment would do, as lines: phases, words, faults, length. Nothing is started.

1. Every length that was written in layout timers is shown with the seconds that it comes to.
2. A late-bound word is shown with the hosts that it may mean: which one, only the cluster can say.
"""

import math
from collections.abc import Iterable, Iterator, Mapping

from faults.core.mechanisms import LOCAL, PACKET_FILTER, PROXY
from faults.core.options import CLIENTS
from faults.core.targets import CLIENT_LINK
from faults.verification import shortest_s
from harness.plan import distribution, model
from harness.plan.bound import Bound
from harness.plan.checks import majorities
from harness.plan.checks.permission import unverified
from harness.plan.checks.process_targets import candidates
from harness.plan.declared import ignored, ignored_text, of_layout, shown
from harness.plan.files import references, spans
from harness.plan.files.targets import Target, TargetForm
from harness.plan.layouts.layout_values import NO_HANDLING, ONE
from harness.plan.layouts.servers import QueueRole
from harness.plan.layouts.topology import Topology
from harness.plan.operation_options import DEFINITION, OPTIONS
from harness.plan.operations import MEANINGS, SET_POLICY
from harness.plan.workload import BootstrapAddress, Workload
from harness.report.lines import cell_name
from harness.report.page.formats import plural
from harness.view.grouping import by_key

PAUSES_MAX = 5  # shown for one fault or operation

# What `uninvolved` means for a fault, and for an endpoint of clients.
_NO_COPY = "holds no copy of any queue"
_NO_TARGET = "no fault targets"


def lines(experiment: model.Experiment, bound: Bound | None = None) -> Iterator[str]:
    """Yield the whole experiment, run by run; repeats of a cell are shown once."""
    runs = f"{plural(len(experiment.runs), 'run')}{' at most' if bound else ''}"
    yield f"experiment {experiment.name}, seed {experiment.seed}: {runs}"
    for repeats in by_key(experiment.runs, lambda run: run.cell).values():
        yield ""
        yield from run_lines(repeats[0], len(repeats))
    if text := _timeouts(experiment):
        yield ""
        yield text
    for skip in experiment.skipped:
        yield ""
        yield f"NOT APPLICABLE {cell_name(skip.cell)}: {skip.reason}"
    if bound is not None:
        yield ""
        yield from bound_lines(experiment, bound)
        return
    lengths = [group[0].schedule for group in experiment.groups]  # the same in a group
    total_s = sum(schedule.load_s + schedule.settle_s for schedule in lengths)
    yield ""
    yield f"load and settle of all runs: {_length(total_s)} at least; start and drain on top"


def notices(experiment: model.Experiment, bound: Bound | None = None) -> Iterator[str]:
    """Yield what a run says before it starts: faults too short to verify, shifting words."""
    for run, *_ in by_key(experiment.runs, lambda run: run.cell).values():
        for window in run.schedule.windows:
            texts = [_too_short(window, run), *_shifting(window.fault.target, window.opens_s, run)]
            for text in filter(None, texts):
                yield f"{cell_name(run.cell)}: fault {window.number}: {text.strip()}"
        if text := majorities.warning(run, of_layout(run.system, run.layout)):
            yield f"{cell_name(run.cell)}: {text}"
    if text := _timeouts(experiment):
        yield text
    if bound is not None:
        yield from bound_lines(experiment, bound)


def _timeouts(experiment: model.Experiment) -> str:
    """Return that systems of one experiment have different detection timeouts, which lengths in
    timers and times of outages depend on; "" if all have one."""
    found: dict[float, list[str]] = {}
    for run in experiment.runs:
        names = found.setdefault(run.layout.detection_timeout_s, [])
        names += [run.system.name] if run.system.name not in names else []
    if len(found) < 2 or len({name for names in found.values() for name in names}) < 2:
        return ""
    each = "; ".join(f"T = {_length(t)} for {', '.join(n)}" for t, n in sorted(found.items()))
    return f"warning: systems have different detection timeouts, so compare with care: {each}"


def bound_lines(experiment: model.Experiment, bound: Bound) -> Iterator[str]:
    """How many runs a bound takes, and how long, where no promise is broken before."""
    cells = {run.cell: run.schedule.load_s + run.schedule.settle_s for run in experiment.runs}
    firsts = {group[0].cell for group in experiment.groups}
    until = f"a promise is broken in a run, or {bound.runs} runs were judged without"
    spare = f"{bound.spare} more at most, where runs cannot be judged"
    yield f"bound {bound}: each cell is repeated until {until}; {spare}"
    for cell, run_s in cells.items():
        least = f"{_long(bound.runs * run_s)} at least"
        yield f"  {cell_name(cell)}: {bound.runs} runs of {_length(run_s)}, {least}"
    # In a group the others go on beside the first.
    total_s = sum(bound.runs * run_s for cell, run_s in cells.items() if cell in firsts)
    least = f"{_long(total_s)} at least; start and drain on top"
    yield f"load and settle of {bound.runs * len(cells)} runs: {least}"


def run_lines(run: model.RunPlan, repeats: int) -> Iterator[str]:
    """One cell: its workload, its phases in seconds, its faults."""
    schedule, scenario = run.schedule, run.scenario
    yield f"{cell_name(run.cell)}, {repeats} x ({run.deployment}): {scenario.title}"
    yield f"  layout     {run.layout.title}; T = {_length(run.layout.detection_timeout_s)}"
    yield from _layout_lines(run)
    if run.layout.topology is not None:
        yield from _topology(run.layout.topology)
    yield f"  workload   {_workload(scenario.workload)}"
    if scenario.workload.declared_at:
        yield f"  queues     are put on {scenario.workload.declared_at}"
    yield from _entries(run)
    for option in shown(run):
        yield f"  option     {option}"
    if run.together:
        others = f"{len(run.together) - 1} more, each with another client"
        load = f"{len(run.together)} times this load"
        yield f"  together   with {others}: one cluster, one fault for all, {load}"
    for section in ignored(run):
        yield f"  ignored    {ignored_text(section, run.client.word)}"
    yield f"  baseline   {_resolved(scenario.baseline, schedule.baseline_s)}"
    for window in schedule.windows:
        yield from _window(window, run)
    if text := majorities.warning(run, of_layout(run.system, run.layout)):
        yield f"             {text}"
    for step in schedule.steps:
        yield from _step(step, run)
    healing = "clients need it to reconnect and be served"
    recovery = _at_least(run, scenario.recovery, schedule.recovery_s, healing)
    done = " and every operation had returned" if schedule.steps else ""
    yield f"  recovery   {recovery} after every fault was verified ended{done}"
    yield f"  settle     {_at_least(run, scenario.settle, schedule.settle_s, 'one deadline')}"
    drain = _resolved(scenario.drain_limit, schedule.drain_limit_s)
    yield f"  drain      {drain} at most, then audit"
    yield f"  load       {_length(schedule.load_s)} at least"


def _entries(run: model.RunPlan) -> Iterator[str]:
    if run.client.uses_name_servers:
        title = run.client.declared.title
        yield f"  clients    find all masters through name servers: {title}"
        return
    workload = run.scenario.workload
    yield f"  publishers connect first to {_entry(workload.publisher_endpoint, run)}"
    yield f"  consumers  connect first to {_entry(workload.consumer_endpoint, run)}"


def _layout_lines(run: model.RunPlan) -> Iterator[str]:
    """Yield what else decides a verdict: the layout's own settings, not only its title."""
    layout = run.layout
    if layout.distribution:
        yield f"  version    that of {layout.distribution}"
    elif layout.version or layout.image:
        in_image = f" in {layout.image}" if layout.image else ""
        yield f"  version    {layout.version or 'as the image has it'}{in_image}"
    copies = "not declared" if layout.copies is None else str(layout.copies)
    synchronised = layout.synchronise or "not declared"
    yield f"  copies     {copies} of each queue, synchronised: {synchronised}"
    if layout.own is not None:
        yield from (f"  {what:<10} {how}" for what, how in layout.own.describe())
    if layout.partition_handling != NO_HANDLING:
        handling = layout.partition_handling or "handling not declared"
        pause = layout.pause_if_all_down
        of = "" if pause is None else f" of {', '.join(pause.hosts)}, recover {pause.recover}"
        yield f"  partitions {handling}{of}"
    if SET_POLICY.name not in run.system.cannot:  # without that operation none is shown
        for policy in layout.policies:
            words = _assignments(policy.definition)
            yield f"  policy     {policy.name} for {policy.pattern}: {words}"
        yield from ["  policy     none is set"] if not layout.policies else []
    if (mib := layout.memory_high_watermark_mib) is not None:
        yield f"  memory     a node raises its alarm above {mib:,} MiB"
    if layout.client_tcp_retries2 is not None:
        yield f"  kernel     tcp_retries2 = {layout.client_tcp_retries2} on the clients' side"
    by_proxy = run.deployment == LOCAL and LOCAL not in run.system.direct_peers
    peers = PROXY if by_proxy else layout.peer_links
    endpoint = f"; client endpoint: {layout.client_endpoint}"
    yield f"  peer links {peers}{'' if run.client.uses_name_servers else endpoint}"


def _window(window: model.Window, run: model.RunPlan) -> Iterator[str]:
    fault = window.fault
    links = f", links of {fault.options.affected_clients} clients"
    what = f"{fault.kind} {fault.target}{links if fault.kind.applies_to == CLIENT_LINK else ''}"
    ends = "" if fault.returns else ", and the host never returns"
    faults, steps = run.schedule.awaited(window), run.schedule.steps_before(window)
    least = " at least" if faults or steps else ""
    lasts = f"{least} for {_resolved(fault.lasts, window.lasts_s)}{ends}"
    head = f"  fault {window.number}    {what}{_options(fault)}"
    yield f"{head}: from +{_length(window.opens_s)}{lasts}"
    yield from _pauses(steps, "operation", "had returned")
    yield from _pauses(faults, "fault", "was verified ended")
    yield f"             {_meaning(fault.target, run)}"
    yield from _shifting(fault.target, window.opens_s, run)
    if text := _too_short(window, run):
        yield f"             {text}"
    if run.layout.topology is not None and (silent := unverified(fault, run.layout.topology)):
        yield f"             no verify command for {', '.join(silent)}: the run ends unknown"


def _shifting(target: Target, at_s: float, run: model.RunPlan) -> Iterator[str]:
    if before := references.shifting(run.schedule, target, at_s):
        yield (
            f"             warning: after {before} {target.word!r} may mean another host than "
            f"before; 'host of fault N' and 'other than fault N' do not change"
        )


def _too_short(window: model.Window, run: model.RunPlan) -> str:
    """What becomes of a fault that ends before a look at it can be over; "": it lasts longer."""
    kind = window.fault.kind
    least_s = shortest_s(kind)
    if window.lasts_s >= least_s:
        return ""
    text = f"shorter than {least_s:g} s, the shortest window in which a {kind} is verified"
    how = kind.mechanism(run.deployment, run.layout.peer_links)
    if PACKET_FILTER in how:
        return f"{text}: packet counters are read when it ends"
    return f"{text}: by {how} nothing can be read afterwards, and the run is INCONCLUSIVE"


def _topology(topology: Topology) -> Iterator[str]:
    """What the brokers' owner should know before anything is done."""
    ways = {one.host: one.upstream if one.reached else "no address" for one in topology.nodes}
    brokers = ", ".join(f"{one.host} ({one.node} at {ways[one.host]})" for one in topology.nodes)
    yield f"  brokers    {brokers}; they are there, and stay"
    names = " and ".join(f"${name}" for name in topology.variables)
    yield f"  credentials {f'of {names}' if names else 'none'}; workers on this machine"
    if topology.balancer is not None:
        yield f"  balancer   {topology.balancer.upstream}: the one address that clients get"
    proxy = topology.proxy
    way = "none: clients dial the brokers" if proxy is None else proxy.at or "one that is started"
    yield f"  proxy      {way}; {topology.own.summary}"


def _step(step: model.OperationStep, run: model.RunPlan) -> Iterator[str]:
    operation = step.operation
    target = f" {operation.target}".rstrip()
    windows, steps = run.schedule.windows_before(step), run.schedule.steps_before(step)
    least = " at least" if windows or steps else ""
    what = f"  operation {step.number} {operation.kind}{target}{_said(operation)}"
    yield f"{what}: at +{_length(step.at_s)}{least}"
    yield from _pauses(windows, "fault", "was verified ended")
    if steps:
        number = max(steps)
        yield f"             {_length(steps[number])} after operation {number} had returned"
    yield from _shifting(operation.target, step.at_s, run)
    if operation.target.form in MEANINGS:
        yield f"             {MEANINGS[operation.target.form]}"


def _pauses(pauses: Mapping[int, float], what: str, over: str) -> Iterator[str]:
    """How long after what is waited for; of much, the latest."""
    latest = sorted(pauses, key=lambda number: (pauses[number], -number))[:PAUSES_MAX]
    if len(pauses) > PAUSES_MAX:
        yield f"             {len(pauses) - PAUSES_MAX} more were over before"
    for number in sorted(latest):
        yield f"             {_length(pauses[number])} after {what} {number} {over}"


def _said(operation: model.OperationPlan) -> str:
    """Return what the scenario says of it, without defaults."""
    options = {key: getattr(operation.options, key) for key in operation.kind.option_keys}
    given = {key: value for key, value in options.items() if value != OPTIONS[key].default}
    if DEFINITION.key in given:
        given[DEFINITION.key] = _assignments(given[DEFINITION.key])
    return "".join(f", {key} {value}" for key, value in given.items())


def _assignments(pairs: Iterable[tuple[str, object]]) -> str:
    return " ".join(f"{key}={value}" for key, value in pairs)


def _options(fault: model.FaultPlan) -> str:
    """Return what the scenario says of it, without its links and what has a line of its own."""
    taken = fault.options.by_field().items()
    given = ((option, getattr(fault.options, field)) for field, option in taken)
    return "".join(
        f", {option.key} {value:g} s" if option.is_length else f", {option.key} {value}"
        for option, value in given
        if option != CLIENTS and value != option.default
    )


def _workload(workload: Workload) -> str:
    rate = "max" if workload.rate is None else f"{workload.rate:g}/s"
    acknowledge = workload.acknowledge or "none"
    groups = ", ".join(workload.consumer_groups)
    of_each = f" of each group ({groups})" if groups else ""
    consumers = f"{plural(workload.consumers, 'consumer')}{of_each}"
    each_s = workload.processing_s
    processing = f", processing {_length(each_s)} (at most {1 / each_s:g}/s)" if each_s else ""
    return (
        f"{plural(workload.publishers, 'publisher')}, {consumers}, "
        f"queues {distribution.named(workload.queues)}, rate {rate}, {workload.body_bytes} bytes, "
        f"retry {workload.retry.value}, acknowledge {acknowledge}{processing}, "
        f"deadline {_length(workload.deadline_s)}"
    )


def _entry(entry: BootstrapAddress, run: model.RunPlan) -> str:
    if run.layout.balancers:
        return f"{' and '.join(run.layout.balancers)}, whatever the scenario says"
    alone = ", and know no other" if run.layout.client_endpoint == ONE else ""
    if entry.hosts:
        return ", ".join(entry.hosts[:1] if alone else entry.hosts) + alone
    assert entry.target is not None, entry
    target = run.role_words.of(entry.target)
    return f"{target}: {_meaning(target, run, _NO_TARGET)}{alone}"


def _always(role: QueueRole, run: model.RunPlan) -> str:
    """The hosts whose brokers have this role in every queue that they hold; "" where none has."""
    brokers = run.system.servers(run.layout).brokers
    return ", ".join(one.host for one in brokers if one.fixed_role is role)


def _meaning(target: Target, run: model.RunPlan, free: str = _NO_COPY) -> str:
    """What a target means on this run's layout, as far as that is known before it stands."""
    return f"{'the whole host of ' if target.whole_host else ''}{_means(target, run, free)}"


def _means(target: Target, run: model.RunPlan, free: str) -> str:
    hosts = ", ".join(host.name for host in run.layout.hosts)
    match target.form:
        case TargetForm.MASTER:
            masters = _always(QueueRole.MASTER, run) or hosts
            return f"one of {masters}: the host that serves {target.queue} then"
        case TargetForm.MIRROR:
            mirrors, mirror = _always(QueueRole.MIRROR, run) or hosts, run.role_words.of(target)
            by_age = f"the oldest {mirror}" if mirror.rank == 1 else f"{mirror}, by age,"
            return f"one of {mirrors}: {by_age} then"
        case TargetForm.UNINVOLVED:
            return f"one of {hosts}: the first that {free}"
        case TargetForm.ACTIVE_BALANCER | TargetForm.STANDBY_BALANCER:
            whose = "has" if target.form is TargetForm.ACTIVE_BALANCER else "lacks"
            balancers = ", ".join(run.layout.balancers)
            return f"one of {balancers}: the one that {whose} the address then"
        case TargetForm.HOST_OF_FAULT:
            return f"the host that fault {target.fault} of the file means"
        case TargetForm.OTHER_THAN_FAULT:
            return f"the first of {hosts} that fault {target.fault} of the file does not mean"
        case TargetForm.CLIENTS:
            return "the processes of these clients"
        case TargetForm.CLIENT:
            return f"the process of {target.client}"
        case TargetForm.PROCESS:
            return f"the process {target.process} of {target.host}"
        case TargetForm.NAME_SERVER | TargetForm.NAME_SERVERS | TargetForm.CONTROLLER:
            found = ", ".join(candidates(target, run.system.servers(run.layout)))
            if target.form is TargetForm.NAME_SERVERS:
                return found
            does = "leads" if target.form is TargetForm.CONTROLLER else f"{target.client} uses"
            return f"one of {found}: the one that {does} then"
    return f"the host {target.host}"


def _at_least(run: model.RunPlan, requested: spans.Duration, seconds: float, because: str) -> str:
    """A length that the schedule may have made longer than the scenario has it."""
    if seconds > requested.resolve_s(run.layout.detection_timeout_s):
        return f"{_length(seconds)} ({because}; the scenario has {spans.text(requested)})"
    return _resolved(requested, seconds)


def _resolved(span: spans.Duration, seconds: float) -> str:
    """`15 s`, or `15 s (1.5 T, at least 15 s)`."""
    return f"{_length(seconds)} ({spans.text(span)})" if span.timers else _length(seconds)


def _long(seconds: float) -> str:
    """Return `26 min` or `1 h 24 min`: minutes are exact enough to plan with."""
    minutes = math.ceil(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def _length(seconds: float) -> str:
    return f"{seconds:g} s"
