"""The documentation's page of faults, as Markdown: which deployment offers which kind, by what.

`python -m tests.rigs.pages.fault_matrix > docs/faults.md` generates the page; a test compares.
"""

from collections.abc import Iterable, Iterator

from faults.kinds import KINDS, offered
from faults.mechanisms import TOXIPROXY
from harness.plan.checks.demands import DEMANDS
from harness.plan.model import System
from harness.report import markdown
from harness.report.listing import DEPLOYMENTS, of_systems
from harness.systems.catalogue import load_system, system_names
from tests.rigs.pages.names import code

_HEAD = """\
# What can be broken

*Made by `python -m tests.rigs.pages.fault_matrix > docs/faults.md`; a test compares.*

A fault counts only if it was verified from outside that it was active and that it ended
(docs/verdicts.md 2). The columns on the right name the mechanism of each deployment.
`mqproof list faults` shows the targets, too. How to add a kind: CONTRIBUTING.md.
"""


def lines(systems: Iterable[System]) -> Iterator[str]:
    """The table; what a deployment or a system cannot do stands below it, with the reason."""
    columns = ("fault", "what it does", "undone", "aimed at a", "options", "of systems")
    yield from markdown.head(*columns, *DEPLOYMENTS)
    for kind in KINDS.values():
        words = (kind.title, kind.undone_by, kind.applies_to, code(kind.option_keys) or "-")
        offers = (offered(kind, deployment) for deployment in DEPLOYMENTS)
        yield markdown.row((f"`{kind.name}`", *words, of_systems(kind), *offers))
    yield ""
    for kind in KINDS.values():
        for deployment, why in kind.why_not.items():
            yield f"- No `{kind.name}` under `{deployment}`: {why}."
    for system in systems:
        yield from _limits(system)


def page(systems: Iterable[System]) -> str:
    return "\n".join((_HEAD, *lines(systems), ""))


def _limits(system: System) -> Iterator[str]:
    """What a system cannot suffer, or not by every mechanism, or cannot answer a cut with; and
    which demands of a workload it does not meet."""
    for name, why in system.cannot.items():
        if name in KINDS or name in DEMANDS:
            yield f"- No `{name}` on `{system.name}`: {why}."
    for deployment, reasons in system.cannot_by.items():
        for why in dict.fromkeys(reasons.values()):
            names = code(name for name, own in reasons.items() if own == why)
            yield f"- No {names} on `{system.name}` under `{deployment}`: {why}."
    for deployment, why in system.direct_peers.items():
        lost = [kind.name for kind in KINDS.values() if deployment in kind.by_peer_links]
        so = f", so of {code(lost)} none by that" if lost else ""
        where = f"on `{system.name}` under `{deployment}`"
        yield f"- No `peer_links = {TOXIPROXY}` {where}{so}: {why}."
    for handling, why in system.cannot_handle.items():
        yield f"- No layout with `partition_handling = {handling}` on `{system.name}`: {why}."


if __name__ == "__main__":
    print(page(load_system(name) for name in system_names()), end="")
