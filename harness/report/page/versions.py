"""The versions that a page shows. A reference imitates a broker, and has none of its releases."""

from collections.abc import Iterator

from harness.judging.result import Report
from harness.systems.registry import registry


def versions(report: Report) -> Iterator[tuple[str, str]]:
    """Yield each name and version, by name: `rabbitmq`, `none; Python brokers behave like …`."""
    real, imitated = set[str](), set[str]()
    for system in {run.cell[1] for run in report.runs}:
        known = registry().systems.get(system)
        if known is not None and known.versioned_as is not None:
            # Only our own nodes can be asked to misbehave, and these imitate a broker.
            (imitated if known.misbehaves else real).add(known.versioned_as)
    for name, text in sorted(report.versions.items()):
        if name not in imitated:
            yield name, text
        elif name in real:
            yield name, f"{text} (the Python brokers behave like it)"
        else:
            yield name, f"none; Python brokers behave like {text}"
