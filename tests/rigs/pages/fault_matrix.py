"""The documentation's page of faults, as Markdown: which deployment offers which kind, by what.

`python -m tests.rigs.pages.fault_matrix > docs/faults.md` generates the page; a test compares.
"""

from collections.abc import Iterable, Iterator, Sequence

from faults.core.kind import Kind
from faults.core.mechanisms import TOXIPROXY
from faults.kinds import KINDS, offered
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
([verdicts.md](verdicts.md), section 2).

- **Targets**: [scenarios.md](scenarios.md#targets) and `mqproof list faults` show the words.
- **Options**: [keys.md](keys.md).
- **Deployments**: `compose` (containers), `local` (subprocesses on this machine), `external`
  ([your own cluster](external.md)). The three columns name the mechanism that does the fault.
- **`-`**: no options, or not possible. **`any`**: every system. The lists below the table give
  reasons and exceptions.

[CONTRIBUTING.md](../CONTRIBUTING.md) says how to add a kind.
"""


def lines(systems: Sequence[System]) -> Iterator[str]:
    """The table; what a deployment or a system cannot do stands below it, with the reason."""
    columns = ("fault", "what it does", "how it ends", "target", "options", "systems")
    yield from markdown.head(*columns, *DEPLOYMENTS)
    for kind in KINDS.values():
        words = (kind.title, kind.undone_by, kind.applies_to, code(kind.option_keys) or "-")
        offers = (offered(kind, deployment) for deployment in DEPLOYMENTS)
        yield markdown.row((f"`{kind.name}`", *words, _systems(kind, systems), *offers))
    yield from _section("Faults that a deployment does not offer", _not_offered())
    yield from _section("Faults that a system does not offer", _not_suffered(systems))
    yield from _section("Layouts that a system does not support", _not_laid_out(systems))
    yield from _section("Workload options that a system does not support", _not_met(systems))


def page(systems: Sequence[System]) -> str:
    return "\n".join((_HEAD, *lines(systems), ""))


def _section(title: str, bullets: Iterable[str]) -> Iterator[str]:
    if found := [f"- {one}." for one in bullets]:
        yield from ("", f"## {title}", "", *found)


def _systems(kind: Kind, systems: Sequence[System]) -> str:
    """Return the systems whose brokers can suffer it, if these are not all."""
    if any(kind.name in one.cannot for one in systems):
        return code(one.name for one in systems if kind.name not in one.cannot)
    return of_systems(kind)


def _grouped(rows: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Join names that share what is said of them and why. A row: name, what is said, reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, said, why in rows:
        groups.setdefault((said, why), []).append(name)
    for (said, why), names in groups.items():
        yield code(names), said, why


def _not_offered() -> Iterator[str]:
    """Kinds that deployments lack, or offer on some layouts only."""
    rows = [
        (kind, deployment, why)
        for kind in KINDS.values()
        for deployment, why in kind.why_not.items()
    ]
    never = ((kind.name, on, why) for kind, on, why in rows if on not in kind.by_peer_links)
    for names, deployment, why in _grouped(never):
        yield f"No {names} under `{deployment}`: {why}"
    for kind, deployment, why in rows:
        if deployment in kind.by_peer_links:
            only = f"only on layouts with `peer_links = {TOXIPROXY}`"
            yield f"`{kind.name}` under `{deployment}` {only}: {why}"


def _not_suffered(systems: Sequence[System]) -> Iterator[str]:
    """Kinds that the brokers of systems cannot suffer, in any deployment or in one."""
    for kind in KINDS:
        never = ((one.name, kind, one.cannot[kind]) for one in systems if kind in one.cannot)
        for names, _, why in _grouped(never):
            yield f"No `{kind}` on {names}: {why}"
    for deployment in DEPLOYMENTS:
        by_system = (
            (one.name, kinds, why)
            for one in systems
            for kinds, _, why in _grouped(
                (kind, "", why) for kind, why in one.cannot_by.get(deployment, {}).items()
            )
        )
        for names, kinds, why in _grouped(by_system):
            yield f"No {kinds} on {names} under `{deployment}`: {why}"


def _not_laid_out(systems: Sequence[System]) -> Iterator[str]:
    """Layouts that a system cannot have, and which faults that excludes."""
    direct = (
        (one.name, deployment, why)
        for one in systems
        for deployment, why in one.direct_peers.items()
    )
    for names, deployment, why in _grouped(direct):
        effect = _without_proxied_links(deployment)
        where = f"on {names} under `{deployment}`"
        yield f"No layout with `peer_links = {TOXIPROXY}` {where}{effect}: {why}"
    for one in systems:
        for handling, why in one.cannot_handle.items():
            yield f"No layout with `partition_handling = {handling}` on `{one.name}`: {why}"


def _without_proxied_links(deployment: str) -> str:
    """Return what becomes of the kinds that proxied peer links would do there."""
    kinds = [kind for kind in KINDS.values() if deployment in kind.by_peer_links]
    lost = code(kind.name for kind in kinds if deployment not in kind.offers)
    kept = [kind for kind in kinds if deployment in kind.offers]
    by = ", ".join(dict.fromkeys(kind.offers[deployment] for kind in kept))
    words = [f"{lost} is not possible"] if lost else []
    words += [f"{code(kind.name for kind in kept)} use {by} only"] if kept else []
    return f" (there {', and '.join(words)})" if words else ""


def _not_met(systems: Sequence[System]) -> Iterator[str]:
    """Demands of workloads that the brokers of systems do not meet."""
    for name, demand in DEMANDS.items():
        lacking = ((one.name, name, one.cannot[name]) for one in systems if name in one.cannot)
        for names, _, why in _grouped(lacking):
            yield f"No `{name}` ({demand.title}) on {names}: {why}"


if __name__ == "__main__":
    print(page([load_system(name) for name in system_names()]), end="")
