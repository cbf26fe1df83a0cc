"""What there is to choose from: systems, layouts, scenarios, faults, clients, claims.

1. Names come first and exactly as the command line and the files take them.
2. Of layouts and claims there are many: each has one line, and tables show more.
"""

from collections.abc import Iterable, Iterator, Mapping

from rich.markup import escape
from rich.table import Table

from faults.core.kind import Kind
from faults.core.mechanisms import COMPOSE, EXTERNAL, LOCAL
from faults.kinds import KINDS, offered
from harness.claims.claims import Claim
from harness.outside.text import visible
from harness.plan import operations as plan
from harness.plan.clients.registry import named
from harness.plan.facts import Fact
from harness.plan.files.suite import Suite
from harness.plan.files.targets import MEANINGS, TargetForm
from harness.plan.model import Layout, Scenario, System
from harness.plan.operation_options import OPTIONS
from harness.report.lines import source_text
from harness.view.grouping import by_key

DEPLOYMENTS = (COMPOSE, LOCAL, EXTERNAL)


def systems(found: Iterable[System]) -> Table:
    table = _table("system", "title", "default layout", "clients", "deployments")
    for one in found:
        words = (", ".join(one.clients), ", ".join(one.deployments))
        table.add_row(one.name, one.title, one.default_layout, *words)
    return table


def layouts(found: Iterable[Layout]) -> Table:
    heads = ("layout", "system", "title", "hosts", "copies", "partitions", "peer links")
    table = _table(*heads, "clients connect by")
    for one in found:
        hosts = ", ".join(host.name for host in one.hosts)
        ways = (one.partition_handling, one.peer_links, one.client_endpoint)
        table.add_row(one.label, one.system, one.title, hosts, str(one.copies), *ways)
    return table


def layout_lines(found: Iterable[Layout]) -> Iterator[str]:
    """Yield a heading for each system and a line for each layout, with all of its profiles."""
    for system, own in by_key(found, lambda one: one.system).items():
        yield f"{system}:"
        rows = by_key(own, lambda one: one.name).items()
        yield from _aligned(
            (name, " ".join(f"@{one.profile}" for one in same), same[0].title)
            for name, same in rows
        )


def claim_lines(found: Iterable[Claim]) -> Iterator[str]:
    """Yield a line for each claim: its name, and what it says."""
    yield from _aligned((one.name, one.meaning) for one in found)


def _aligned(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    every = list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=True)]
    for row in every:
        *words, last = (f"{word:{width}}" for word, width in zip(row, widths, strict=True))
        yield "  " + "  ".join([*words, last.rstrip()])


def scenarios(found: Iterable[Scenario]) -> Table:
    table = _table("scenario", "title", "faults", "operations")
    for one in found:
        faults = ", ".join(f"{fault.kind} {fault.target}" for fault in one.faults)
        done = ", ".join(f"{each.kind} {each.target}".strip() for each in one.operations)
        table.add_row(one.name, one.title, faults or "none", done or "none")
    return table


def suites(found: Mapping[str, Suite]) -> Table:
    table = _table("suite", "title", "system", "clients", "scenarios")
    for name, one in found.items():
        words = (", ".join(one.clients), ", ".join(one.scenarios))
        table.add_row(name, one.title, one.system, *words)
    return table


def faults() -> Iterator[Table]:
    kinds = _table(
        *("fault", "what it does", "targets a", "in containers by", "local by"),
        *("external by", "of systems"),
    )
    for kind in KINDS.values():
        offers = [offered(kind, deployment) for deployment in DEPLOYMENTS]
        kinds.add_row(kind.name, kind.title, kind.applies_to, *offers, of_systems(kind))
    yield kinds
    yield _targets(MEANINGS)


def of_systems(kind: Kind) -> str:
    """Return whose brokers can suffer it."""
    return ", ".join(kind.only_on) or "any"


def operations() -> Iterator[Table]:
    kinds = _table(
        "operation", "what it does", "targets", "options", "in containers by", "local by"
    )
    for one in plan.OPERATIONS.values():
        offers = [one.offers.get(deployment, "-") for deployment in (COMPOSE, LOCAL)]
        words = (", ".join(one.targets) or "the cluster", ", ".join(one.option_keys) or "-")
        kinds.add_row(one.name, one.title, *words, *offers)
    yield kinds
    yield _targets(plan.MEANINGS)
    options = _table("option", "what it says", "words")
    for option in OPTIONS.values():
        options.add_row(option.key, option.meaning, ", ".join(option.choices) or "-")
    yield options


def clients(found: Iterable[System]) -> Table:
    table = _table("client", "what it is", "protocol", "systems", "installation")
    systems = list(found)
    for client in sorted({client for system in systems for client in system.clients}):
        names = [system.name for system in systems if client in system.clients]
        known = named(client)
        words = (known.title, known.family.name, ", ".join(names), known.how_to_get)
        # Brackets are markup to a table: `mqproof[rocketmq-java]`.
        table.add_row(client, *(escape(visible(word)) for word in words))
    return table


def claims(found: Iterable[Claim]) -> Table:
    table = _table("claim", "what it says", "source", "where", "must hold")
    for one in found:
        where = "\n".join(condition.text for condition in one.precondition) or "always"
        must = [condition.text for condition in one.predicate]
        if one.some:
            must.insert(0, "in some cases:")
        if one.warns:
            must.insert(0, "foretold:")
        table.add_row(one.name, one.meaning, source_text(one.source), where, "\n".join(must))
        table.add_section()
    return table


def facts(known: Mapping[str, Fact]) -> Table:
    table = _table("fact", "type", "what it is")
    for name, fact in known.items():
        kind = {bool: "true, false", str: "word"}.get(fact.kind, "number")
        table.add_row(name, kind, fact.meaning)
    return table


def _targets(meanings: Mapping[TargetForm, str]) -> Table:
    table = _table("target", "what it resolves to")
    for form, text in meanings.items():
        table.add_row(form.value, text)
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number == 0, overflow="fold" if number else "ellipsis")
    return table
