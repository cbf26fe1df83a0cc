"""The schedule of one run: a scenario's lengths, resolved with its layout's timer.

1. Windows are numbered from 1 in the order in which they open; of equals, in the file's order.
   So are operations, by themselves.
2. Every length is seconds here; nothing later knows layout timers.
3. To settle takes a deadline at least: what publishers leave open when they close would count as
   missed otherwise, though its time was not over.
4. So the load goes on after the last fault until clients had time to be back, and then served:
   what is promised of a healed cluster could not be judged otherwise.
5. Targets of queues have the words of the layout's system: `leader of orders` of a quorum queue.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.plan.clients.requirements import ChosenClient
from harness.plan.declared import healed_s
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.layouts.role_words import role_words
from harness.plan.model import Layout, OperationStep, Scenario, Schedule, Window


def resolve(
    scenario: Scenario, layout: Layout, guarantees: Guarantees, client: ChosenClient
) -> Schedule:
    """The phases of `scenario` in seconds, on `layout`, which promises that, with clients of that
    library."""
    scenario = _in_words_of(guarantees, scenario)
    detection_timeout_s = layout.detection_timeout_s
    baseline_s = scenario.baseline.resolve_s(detection_timeout_s)
    return Schedule(
        baseline_s=baseline_s,
        windows=tuple(_windows(scenario, detection_timeout_s, baseline_s)),
        recovery_s=max(
            scenario.recovery.resolve_s(detection_timeout_s),
            healed_s(scenario, client, guarantees),
        ),
        settle_s=max(scenario.settle.resolve_s(detection_timeout_s), scenario.workload.deadline_s),
        drain_limit_s=scenario.drain_limit.resolve_s(detection_timeout_s),
        steps=_steps(scenario, detection_timeout_s, baseline_s),
    )


def _in_words_of(guarantees: Guarantees, scenario: Scenario) -> Scenario:
    words = role_words(guarantees)
    faults, operations = scenario.faults, scenario.operations
    return replace(
        scenario,
        faults=tuple(replace(one, target=words.of(one.target)) for one in faults),
        operations=tuple(replace(one, target=words.of(one.target)) for one in operations),
    )


def _windows(
    scenario: Scenario, detection_timeout_s: float, baseline_s: float
) -> Iterator[Window]:
    """In the order in which they open. Targets refer to faults by the file's order."""
    numbers = _numbers(scenario, detection_timeout_s)
    for place, number in sorted(numbers.items(), key=lambda item: item[1]):
        fault = scenario.faults[place - 1]
        refers_to = numbers.get(fault.target.fault, 0)
        opens_s = baseline_s + fault.opens.resolve_s(detection_timeout_s)
        yield Window(number, fault, opens_s, fault.lasts.resolve_s(detection_timeout_s), refers_to)


def _numbers(scenario: Scenario, detection_timeout_s: float) -> dict[int, int]:
    """The number of each fault's window, by its place in the file; both from 1."""
    opens_s = [fault.opens.resolve_s(detection_timeout_s) for fault in scenario.faults]
    order = sorted(range(len(opens_s)), key=opens_s.__getitem__)
    return {place + 1: number for number, place in enumerate(order, start=1)}


def _steps(
    scenario: Scenario, detection_timeout_s: float, baseline_s: float
) -> tuple[OperationStep, ...]:
    timed = [
        (baseline_s + one.at.resolve_s(detection_timeout_s), one) for one in scenario.operations
    ]
    timed.sort(key=lambda one: one[0])
    windows = _numbers(scenario, detection_timeout_s)
    return tuple(
        OperationStep(number, one, at_s, windows.get(one.target.fault, 0))
        for number, (at_s, one) in enumerate(timed, start=1)
    )
