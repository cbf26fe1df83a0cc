"""PURE: hosts that a scenario names, and that no layout has: probably misspelt.

A host that only other layouts have is no mistake: the cell is NOT APPLICABLE there
(applicability.py). So is a name that is near to none.
"""

from collections.abc import Iterable, Iterator

from harness.outside.text import brief
from harness.plan.files.toml_lines import Path, describe, line_numbers
from harness.plan.model import Layout, Scenario
from harness.plan.operation_options import ThroughOptions
from harness.plan.problems import Problem, nearest


def problems(
    scenario: Scenario, layouts: Iterable[Layout], chosen: Iterable[Layout]
) -> Iterator[Problem]:
    """Yield hosts that are probably misspelt, with their lines. `layouts`: all that there are;
    `chosen`: those of the experiment, whose hosts are valid."""
    known, valid = _hosts(layouts), _hosts(chosen)
    wrong = [(path, host) for path, host in _named(scenario) if host not in known]
    lines = line_numbers(scenario.source) if wrong else {}
    for path, host in wrong:
        if nearest(host, known):
            text = f"no layout has a host {brief(host)}"
            place = describe(path, lines, f"{scenario.name}.toml")
            yield Problem(place, text, valid, nearest(host, valid or known))


def _hosts(layouts: Iterable[Layout]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            host
            for one in layouts
            for host in (*(each.name for each in (*one.hosts, *one.spares)), *one.balancers)
        )
    )


def _named(scenario: Scenario) -> Iterator[tuple[Path, str]]:
    """Yield each host's name, and the path of its key."""
    workload = scenario.workload
    if workload.declared_at:
        yield ("workload", "declared_at"), workload.declared_at
    for key in ("publisher_endpoint", "consumer_endpoint"):
        for host in getattr(workload, key).hosts:
            yield ("workload", key), host
    for number, fault in enumerate(scenario.faults):
        if fault.target.host:
            yield ("fault", number, "target"), fault.target.host
    for number, operation in enumerate(scenario.operations):
        if operation.target.host:
            yield ("operation", number, "target"), operation.target.host
        options = operation.options
        if isinstance(options, ThroughOptions) and options.through and options.through.host:
            yield ("operation", number, "through"), options.through.host
