"""The versions that a page shows. A reference imitates a broker, and has none of its releases."""

from collections.abc import Iterator

from harness.judging.result import Report
from harness.systems.registry import registry

NONE = "none"  # what a broker reports that lacks a part, such as Erlang
_OWN_VERSION = "version of the brokers"
_PACKAGES = ("docker", "toxiproxy-python")  # of Python, called as other programs are


def of_brokers(system: str) -> str:
    """Return whose version brokers of a system report: their own, or one they imitate."""
    return "version that the Python brokers imitate" if _imitates(system) else _OWN_VERSION


def versions(report: Report) -> Iterator[tuple[str, str]]:
    """Yield each name and version, by name: `rabbitmq`, `none; Python brokers behave like …`."""
    real, imitated = set[str](), set[str]()
    for system in {run.cell[1] for run in report.runs}:
        known = registry().systems.get(system)
        if known is not None and known.versioned_as is not None:
            (imitated if _imitates(system) else real).add(known.versioned_as)
    found = {name: text for name, text in report.versions.items() if text != NONE}
    for name, text in sorted(found.items()):
        if name in _PACKAGES:
            yield f"{name} (Python package)", text
        elif name not in imitated:
            yield name, text
        elif name in real:
            yield name, f"{text} (the Python brokers behave like it)"
        else:
            yield name, f"none; Python brokers behave like {text}"


def _imitates(system: str) -> bool:
    known = registry().systems.get(system)
    # Only our own nodes can be asked to misbehave, and these imitate a broker.
    return known is not None and bool(known.misbehaves)
