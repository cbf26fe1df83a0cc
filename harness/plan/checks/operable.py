"""Whether a scenario's operations mean anything on a layout: the reasons why not.

1. Only what a plan declares is asked; which hosts are down, only the run can say.
"""

from collections.abc import Iterator, Sequence

from faults.core.mechanisms import EXTERNAL
from harness.outside.text import brief
from harness.plan.files.targets import Target, TargetForm
from harness.plan.model import Layout, OperationPlan, Scenario, System
from harness.plan.operation_options import PolicyNameOptions, PolicyOptions, ThroughOptions
from harness.plan.operations import DELETE_POLICY, PROMOTE, SET_POLICY, Operation


def obstacles(
    scenario: Scenario, system: System, layout: Layout, deployment: str
) -> Iterator[str]:
    """Every reason why the scenario's operations cannot be carried out there."""
    for number, plan in enumerate(scenario.operations, start=1):
        for reason in (
            *_offered(plan.kind, system, deployment),
            *_target(plan.target, plan.kind, layout),
            *_through(plan, layout),
            *_stopped(plan, scenario.operations),
            *_policy(plan, layout, scenario.operations),
            *_definition(plan, system),
        ):
            yield f"operation {number}: {reason}"


def _offered(kind: Operation, system: System, deployment: str) -> Iterator[str]:
    if kind.name in system.cannot:
        yield f"{system.name} has no {kind.name}: {system.cannot[kind.name]}"
    elif deployment not in kind.offers:
        why = _NOT_OURS if deployment == EXTERNAL else kind.why_not.get(deployment, _NOT_MADE)
        yield f"{deployment} offers no {kind.name}: {why}"


_NOT_MADE = "it is not implemented"
_NOT_OURS = "brokers that are there are operated by their owner"


def _target(target: Target, kind: Operation, layout: Layout) -> Iterator[str]:
    members = [host.name for host in layout.hosts]
    spares = [host.name for host in layout.spares]
    if kind.means_spare:
        if not spares:
            yield "the layout has no spare host"
        elif target.form is TargetForm.HOST and target.host not in spares:
            yield f"{brief(target.host)} is no spare host (there are {', '.join(spares)})"
    elif target.form is TargetForm.HOST and target.host not in members:
        yield f"no host {brief(target.host)} (there are {', '.join(members)})"
    elif layout.copies is None:
        return
    elif kind == PROMOTE and layout.copies < 2:
        yield f"{brief(target.word)} has one copy, no mirror that could become its master"
    elif target.form is TargetForm.MIRROR:
        yield from no_such_mirror(target, layout)
    elif target.form is TargetForm.UNINVOLVED and layout.copies >= len(members):
        yield f"target {brief(target.word)} matches no host: every host holds a copy"


def no_such_mirror(target: Target, layout: Layout) -> Iterator[str]:
    """Yield why no queue of the layout has that mirror; nothing if it has, or it is unknown."""
    if target.form is TargetForm.MIRROR and layout.copies and layout.copies <= target.rank:
        one = "one copy, no mirror"
        found = one if layout.copies == 1 else f"{layout.copies} copies, no mirror {target.rank}"
        yield f"target {brief(target.word)} matches no host: queues have {found}"


def _through(plan: OperationPlan, layout: Layout) -> Iterator[str]:
    if not isinstance(plan.options, ThroughOptions) or plan.options.through is None:
        return
    through, members = plan.options.through, [host.name for host in layout.hosts]
    if through.form is TargetForm.HOST and through.host not in members:
        yield f"no host {brief(through.host)} to go through (there are {', '.join(members)})"


def _stopped(plan: OperationPlan, every: Sequence[OperationPlan]) -> Iterator[str]:
    """Of operations on hosts that are down: whether anything stops one."""
    leaves_stopped = any(one.kind.stops and not one.kind.starts for one in every)
    if plan.kind.means_stopped and not leaves_stopped:
        reason = "no operation stops a host"
        yield f"target {brief(plan.target.word)} matches no host: {reason}"


def _policy(plan: OperationPlan, layout: Layout, every: Sequence[OperationPlan]) -> Iterator[str]:
    if plan.kind != DELETE_POLICY:
        return
    name = PolicyNameOptions.of(plan).name
    names = [policy.name for policy in layout.policies]
    names += [PolicyNameOptions.of(one).name for one in every if one.kind == SET_POLICY]
    if name not in names:
        yield f"there is no policy {brief(name)} (there are {', '.join(names) or 'none'})"


def _definition(plan: OperationPlan, system: System) -> Iterator[str]:
    """A key that the system does not declare may let brokers drop messages, which would be
    reported as lost."""
    if not isinstance(plan.options, PolicyOptions):
        return
    other = [key for key, _ in plan.options.definition if key not in system.policy_keys]
    if other:
        known = ", ".join(system.policy_keys) or "no key"
        yield (
            f"set_policy with {', '.join(map(brief, other))}: {system.name} allows {known}; by "
            "other keys a broker may drop messages, which mqproof would report as lost"
        )
