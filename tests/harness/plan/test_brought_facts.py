"""Facts that packages bring: declared, recorded, and used by claims of the same package."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.claims.values import NotApplicable, Unknown
from harness.judging import brought_claims, known_facts
from harness.outside.installed import Offer
from harness.plan.clients import registry as clients
from harness.plan.clients import requirements
from harness.plan.clients.requirements import chosen_client
from harness.plan.declared import declared, of_layout
from harness.plan.experiment import Catalogue, ExperimentOptions
from harness.plan.experiment import plan as plan_of
from harness.plan.facts import Fact
from harness.plan.layouts import guarantees
from harness.plan.model import LayoutFact, RunPlan
from harness.plan.problems import PlanError
from harness.plan.vocabulary import FACTS
from harness.run.series import special_messages
from harness.run_folder.manifest import Manifest
from harness.systems import registry as systems
from harness.systems.port import Declaration
from tests.harness.plan.test_sections import CLIENT, FAMILY, SECTION
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan

SAFE = Fact(bool, False, "queues are safe")
SLOW = Fact(float, False, "slow messages, if few are planned")
OWN_FACTS = {"acme_safe": LayoutFact(fact=SAFE, value=lambda layout: layout.copies == 3)}
QUEUES = replace(systems.OURS["reference-mirrored"], name="acme-queues", facts=OWN_FACTS)
COUNTING = replace(
    SECTION,
    own_facts={**SECTION.own_facts, "acme_slow": SLOW},
    counts=lambda _own, _workload, _load_s: {"acme_slow": 5},
    counted=("acme_slow",),
)
ACME = replace(CLIENT, family=replace(FAMILY, section=COUNTING))


def offer(declaration: Declaration) -> Offer:
    return Offer(declaration.name, "acme 1.2", declaration)


@pytest.fixture
def _acme(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a system and a client that bring facts."""
    of_clients = clients.read([Offer("acme", "acme 1.2", ACME)])
    of_systems = systems.read([offer(QUEUES)])
    assert (of_clients.spoilt, of_systems.spoilt) == ({}, {})
    for module in (clients, requirements):
        monkeypatch.setattr(module, "registry", lambda: of_clients)
    monkeypatch.setattr(systems, "registry", lambda: of_systems)


def by(client: str) -> RunPlan:
    return replace(plan(), client=chosen_client(client))


# --- what is wrong with a declaration ------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "wrong"),
    [
        (None, "its facts are no mapping of names, but None"),
        ({"acme_safe": "yes"}, "the fact 'acme_safe' is no LayoutFact, but 'yes'"),
        ({"lost": SAFE}, "mqproof itself has a fact 'lost': give this one another name"),
        ({"windows": SAFE}, "mqproof itself has a fact 'windows'"),
        ({"Acme safe": SAFE}, "'Acme safe' is no fact's name: small letters, digits and _"),
        ({"acme_safe": "yes or no"}, "it is no harness.plan.vocabulary.Fact, but 'yes or no'"),
        ({"acme_safe": replace(SAFE, kind=int)}, "its type is bool, str or float, not"),
        ({"acme_safe": replace(SAFE, of_window=True)}, "only mqproof itself has facts of windows"),
        ({"acme_safe": replace(SAFE, label="")}, "it has no label"),
    ],
)
def test_a_system_with_a_wrong_fact_is_not_used(facts: Any, wrong: str) -> None:
    if isinstance(facts, Mapping) and "LayoutFact" not in wrong:
        facts = {name: LayoutFact(fact=fact, value=lambda _: True) for name, fact in facts.items()}
    found = systems.read([offer(replace(QUEUES, facts=facts))])
    assert found.systems == systems.OURS
    assert wrong in found.spoilt["acme-queues"]


def test_two_systems_may_bring_one_fact_if_they_agree() -> None:
    other = replace(QUEUES, name="acme-streams")
    assert systems.read([offer(QUEUES), offer(other)]).spoilt == {}
    differs = LayoutFact(fact=replace(SAFE, label="another"), value=lambda _: True)
    found = systems.read([offer(QUEUES), offer(replace(other, facts={"acme_safe": differs}))])
    assert found.spoilt.keys() == {"acme-queues", "acme-streams"}
    assert "brings the fact 'acme_safe' otherwise" in found.spoilt["acme-queues"]


@pytest.mark.usefixtures("_acme")
def test_a_system_and_a_section_cannot_bring_one_fact() -> None:
    depth = LayoutFact(fact=SECTION.own_facts["depth"], value=lambda _: 1)
    found = systems.read([offer(replace(QUEUES, facts={"depth": depth}))])
    assert "the section of a client brings the fact 'depth', too" in found.spoilt["acme-queues"]


# --- what a run records --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "recorded"),
    [
        (True, True),
        (None, None),
        (guarantees.NotApplicable("it has no queues"), {"not_applicable": "it has no queues"}),
    ],
)
def test_layouts_of_its_system_declare_a_fact(value: Any, recorded: Any) -> None:
    fact = LayoutFact(fact=SAFE, value=lambda _: value)
    facts = of_layout(replace(SYSTEM, facts={"acme_safe": fact}), LAYOUT)
    assert facts["acme_safe"] == recorded
    assert facts.keys() - {"acme_safe"} == of_layout(SYSTEM, LAYOUT).keys()


@pytest.mark.parametrize("value", ["yes", 1, 2.5])
def test_value_of_another_type_is_reported_before_any_run(value: Any) -> None:
    wrong = {"acme_safe": LayoutFact(fact=SAFE, value=lambda _: value)}
    request = ExperimentOptions("e", 7, (plan().scenario,))
    with pytest.raises(PlanError) as caught:
        plan_of(request, Catalogue((replace(SYSTEM, facts=wrong),), (LAYOUT,)))
    (problem,) = caught.value.problems
    assert str(problem) == (
        f"all-automatic@T=10: rabbitmq-mirrored gives the fact 'acme_safe' the value {value!r}; "
        "expected: true or false, None (unknown), or NotApplicable with a reason; "
        "what to do: correct what gives the value, in its package"
    )


@pytest.mark.usefixtures("_acme")
def test_a_section_counts_messages_of_its_own() -> None:
    assert special_messages(by("acme")) == {
        "delayed_messages": None,
        "messages_in_transactions": None,
        "messages_to_commit": None,
        "messages_to_check": None,
        "acme_slow": 5,
    }
    assert "acme_slow" not in special_messages(by("pika"))
    assert declared(by("pika"))["acme_slow"] == {"not_applicable": SECTION.not_applicable}


@pytest.mark.parametrize("counts", [{"acme_fast": 5}, {"acme_slow": 5.5}])
def test_an_undeclared_count_is_bad_input(
    counts: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    section = replace(COUNTING, counts=lambda _own, _workload, _load_s: counts)
    odd = replace(ACME, family=replace(FAMILY, section=section))
    found = clients.read([Offer("acme", "acme 1.2", odd)])
    for module in (clients, requirements):
        monkeypatch.setattr(module, "registry", lambda: found)
    wrong = r"\[workload.acme\] counts .*whole numbers of: acme_slow"
    with pytest.raises(PlanError, match=wrong):
        special_messages(by("acme"))
    catalogue = Catalogue((replace(SYSTEM, clients=("acme",)),), (LAYOUT,))
    request = ExperimentOptions("e", 7, (plan().scenario,), repeats=2)
    with pytest.raises(PlanError, match=wrong) as caught:  # before any run
        plan_of(request, catalogue)
    assert len(caught.value.problems) == 1


# --- what claims know of a run -------------------------------------------------------------------


def manifest(system: str = SYSTEM.name, client: str = "pika", **state: Any) -> Manifest:
    return replace(Manifest.of(plan()), system=system, client=client, state=state)


@pytest.mark.usefixtures("_acme")
def test_brought_facts_are_listed_after_our_own() -> None:
    assert list(known_facts.every())[: len(FACTS)] == list(FACTS)
    assert known_facts.brought().keys() == {"depth", "acme_slow", "acme_safe"}


@pytest.mark.usefixtures("_acme")
def test_fact_of_another_system_or_client_does_not_apply() -> None:
    known = known_facts.of_run(manifest(), {})
    assert known.value("acme_safe", 0) == NotApplicable(
        "rabbitmq-mirrored has no acme_safe; acme-queues has"
    )
    assert known.value("depth", 0) == NotApplicable(SECTION.not_applicable)


@pytest.mark.usefixtures("_acme")
def test_unrecorded_fact_of_its_own_run_is_unknown() -> None:
    known = known_facts.of_run(manifest("acme-queues", "acme"), {})
    for name in ("acme_safe", "depth", "acme_slow"):
        assert known.value(name, 0) == Unknown(f"{name}: it was not recorded")


@pytest.mark.usefixtures("_acme")
def test_fact_of_a_run_whose_package_is_not_installed_is_unknown() -> None:
    known = known_facts.of_run(manifest("acme-streams", "acme-2"), {})
    for name in ("acme_safe", "depth"):
        assert known.value(name, 0) == Unknown(f"{name}: it was not recorded")


@pytest.mark.usefixtures("_acme")
def test_recorded_fact_has_its_declared_type_or_is_unknown() -> None:
    assert known_facts.of_run(manifest(acme_safe=True), {}).value("acme_safe", 0) is True
    assert known_facts.of_run(manifest(acme_safe="yes"), {}).value("acme_safe", 0) == Unknown(
        "acme_safe: 'yes' was recorded, and it should be true or false"
    )


CLAIM = """[[claim]]
name = "acme-is-safe"
sentence = "Acme's queues are safe."
source = "acme"
quantifier = "all"
precondition = ["acme_safe == true"]
predicate = ["lost == 0"]
"""


@pytest.mark.usefixtures("_acme")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (CLAIM, ""),
        (CLAIM.replace("_safe ==", "_save =="), "there is no fact 'acme_save'; did you mean"),
        (CLAIM.replace("true", "3"), "true or false is expected, not '3'"),
    ],
)
def test_claims_may_use_a_brought_fact_by_its_name_and_type(
    text: str, wrong: str, tmp_path: Path
) -> None:
    file = tmp_path / "claims.toml"
    file.write_text(text, encoding="utf-8")
    claims = brought_claims.ClaimsOffer(name="acme", file=lambda: file)
    found = brought_claims.read([Offer("acme", "acme 1.2", claims)], known_facts.brought())
    assert [one.name for one in found.claims] == ([] if wrong else ["acme-is-safe"])
    assert wrong in found.spoilt.get("acme", "")
