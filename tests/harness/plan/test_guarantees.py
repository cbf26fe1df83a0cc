"""What a system guarantees by a layout: everything is answered, and nothing by a default."""

from dataclasses import MISSING, fields, replace

import pytest

from harness.plan.declared import declared
from harness.plan.layouts.guarantees import Guarantees, NotApplicable
from harness.plan.model import Layout
from harness.systems.catalogue import layout_names, load_layout, load_system, system_names
from harness.systems.rabbitmq.core.mirrored_layouts import mirrored_guarantees
from harness.systems.registry import OURS
from spark_analysis.schema.words import Strength
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan

UNKNOWN = Guarantees(
    masters=None,
    mirrored_on=None,
    promote_on_shutdown=None,
    promote_on_failure=None,
    elects=None,
    elects_by_majority=None,
    route_poll_s=None,
    confirm_waits_for_mirrors=None,
    confirm_waits_for_majority=None,
    confirm_waits_for_disk=None,
    checks_within_s=None,
    progress_kept_by=None,
    strength=None,
    strength_of_transient=None,
)


def test_no_promise_has_a_default() -> None:
    for one in fields(Guarantees):
        assert one.default is MISSING, one.name
        assert one.default_factory is MISSING, one.name


@pytest.mark.parametrize("system", system_names())
def test_every_shipped_layout_says_what_a_confirm_is_worth(system: str) -> None:
    for label in layout_names(system):
        promised = load_system(system).guarantees(load_layout(system, label))
        assert promised.strength is not None, label
        assert promised.confirm_waits_for_mirrors is not None, label
        assert promised.confirm_waits_for_majority is not None, label


def test_what_replicated_means_leaves_nothing_to_guess() -> None:
    for system in OURS.values():
        (own,) = (one.meaning for one in system.levels if one.label == "replicated")
        assert "perhaps" not in own and "(" not in own, system.name


def test_undeclared_guarantees_are_unknown_to_claims() -> None:
    silent = replace(SYSTEM, name="silent", guarantees=lambda _: UNKNOWN)
    facts = declared(replace(plan(), system=silent))
    for name in (one.name for one in fields(Guarantees) if not one.name.startswith("strength")):
        assert facts[name] is None, name


def test_meaningless_question_is_not_applicable_with_its_reason() -> None:
    assert mirrored_guarantees(LAYOUT).route_poll_s == NotApplicable(
        "clients of this system use no name server"
    )
    assert declared(plan())["route_poll_s"] == {
        "not_applicable": "clients of this system use no name server"
    }


@pytest.mark.parametrize(
    ("copies", "lasting", "transient"),
    [
        (3, Strength.REPLICATED, Strength.REPLICATED),
        (1, Strength.STORED, Strength.BUFFERED),
        (None, Strength.STORED, Strength.BUFFERED),  # somebody else's, who says nothing of copies
    ],
)
def test_confirm_of_mirrored_queues_is_worth_all_its_copies(
    copies: int | None, lasting: Strength, transient: Strength
) -> None:
    layout: Layout = replace(LAYOUT, copies=copies)
    promised = mirrored_guarantees(layout)
    assert (promised.strength, promised.strength_of_transient) == (lasting, transient)
