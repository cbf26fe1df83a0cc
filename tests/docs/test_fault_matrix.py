"""The documentation's pages of faults and operations are what the code offers."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from faults.kinds import KINDS
from harness.plan.operations import OPERATIONS
from harness.report import listing
from harness.report.listing import DEPLOYMENTS
from harness.systems.catalogue import load_system, system_names
from tests.rigs.pages import fault_matrix, operation_matrix
from tests.rigs.pages.fault_matrix import lines

DOCS = Path(__file__).parents[2] / "docs"
SYSTEMS = [load_system(name) for name in system_names()]


def test_committed_fault_page_equals_the_generated_one() -> None:
    page = (DOCS / "faults.md").read_text("utf-8")
    assert page == fault_matrix.page(SYSTEMS), "see its head for the command that makes it again"


def test_committed_operation_page_equals_the_generated_one() -> None:
    page = (DOCS / "operations.md").read_text("utf-8")
    assert page == operation_matrix.page(SYSTEMS), "see its head for the command"


def test_every_operation_has_an_offer_or_reason_per_deployment() -> None:
    for one in OPERATIONS.values():
        assert {*one.offers, *one.why_not} == set(operation_matrix.DEPLOYMENTS)
        assert not one.offers.keys() & one.why_not.keys()


def test_every_kind_has_an_offer_or_reason_per_deployment() -> None:
    for kind in KINDS.values():
        assert {*kind.offers, *kind.why_not} == set(DEPLOYMENTS)
        assert not kind.offers.keys() & kind.why_not.keys()


def test_kind_that_few_systems_can_suffer_lists_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rare = {"rare": replace(KINDS["kill"], name="rare", only_on=("doves", "pigeons"))}
    for module in (listing, fault_matrix):
        monkeypatch.setattr(module, "KINDS", {**KINDS, **rare})
    shown = io.StringIO()
    Console(file=shown, width=1000).print(next(listing.faults()))
    printed = {line.split()[0]: line for line in shown.getvalue().splitlines()}
    assert printed["rare"].rstrip().endswith("doves, pigeons")
    assert printed["kill"].rstrip().endswith("any")
    rows = {row.split("|")[1].strip(): row for row in lines(SYSTEMS) if row.startswith("| `")}
    assert "| doves, pigeons |" in rows["`rare`"]
    assert "| any |" in rows["`kill`"]


def test_unsupported_faults_are_listed_with_their_reason() -> None:
    page = [*lines(SYSTEMS), *operation_matrix.lines(SYSTEMS)]
    for system in SYSTEMS:
        for name, why in system.cannot.items():
            (line,) = (
                row
                for row in page
                if row.startswith(f"- No `{name}` ") and row.endswith(f": {why}.")
                if f"`{system.name}`" in row
            )
            assert " under " not in line


def test_faults_that_some_systems_cannot_suffer_name_the_others() -> None:
    rows = {row.split("|")[1].strip(): row for row in lines(SYSTEMS) if row.startswith("| `")}
    assert "`rabbitmq-stream`, `reference-mirrored` |" in rows["`alarm`"]
    assert "rocketmq" not in rows["`alarm`"]


def test_kind_that_layouts_allow_is_not_listed_as_impossible() -> None:
    page = list(lines(SYSTEMS))
    assert not any(row.startswith("- No `slow_peers` under `compose`") for row in page)
    only = "- `slow_peers` under `compose` only on layouts with `peer_links = toxiproxy`: "
    assert sum(row.startswith(only) for row in page) == 1


def test_mechanisms_missing_in_a_system_are_listed_with_reasons() -> None:
    page = "\n".join(lines(SYSTEMS))
    for system in SYSTEMS:
        for deployment, why in system.direct_peers.items():
            (line,) = (row for row in page.splitlines() if row.endswith(f": {why}."))
            assert line.startswith("- No layout with `peer_links = toxiproxy` on ")
            assert f"`{system.name}`" in line and f" under `{deployment}`" in line
            effect = (
                "(there `slow_peers` is not possible, and `partition`, `flap` use packet_filter"
            )
            assert (effect in line) is (deployment == "compose")
        for deployment, reasons in system.cannot_by.items():
            for name, why in reasons.items():
                (line,) = (row for row in page.splitlines() if row.endswith(f": {why}."))
                assert f"`{name}`" in line and f"`{system.name}`" in line
                assert f" under `{deployment}`: " in line
        for handling, why in system.cannot_handle.items():
            assert f"`partition_handling = {handling}` on `{system.name}`: {why}." in page
