"""Every system by its name: ours, and those of other packages."""

import re
from dataclasses import fields, replace

import pytest

from harness.cli import main
from harness.judging.exits import Exit
from harness.outside.installed import Offer
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.misbehave import KINDS
from harness.systems import catalogue
from harness.systems.catalogue import CatalogueError, load_system, system_names
from harness.systems.files import compose_folder
from harness.systems.port import Declaration
from harness.systems.registry import OURS, SystemRegistry, read
from spark_analysis.schema.ways import LOAD, OWN_WAYS, DeliveryWay
from spark_analysis.schema.words import Level

QUEUE = replace(OURS["reference-mirrored"], name="acme-queue")


def offer(thing: object, name: str = "acme-queue", refused: str = "") -> Offer:
    return Offer(name, "acme 1.2", thing, refused)


def test_exactly_the_shipped_systems_are_declared() -> None:
    shipped = {path.parent.name for path in compose_folder().glob("*/system.toml")}
    assert OURS.keys() == shipped
    assert {*system_names()} >= shipped


def test_no_part_of_a_declaration_has_a_default() -> None:
    answered = {one.name: getattr(QUEUE, one.name) for one in fields(Declaration)}
    for name in answered:
        with pytest.raises(TypeError, match=name):
            Declaration(**{key: value for key, value in answered.items() if key != name})


def test_only_systems_deployed_as_processes_declare_how() -> None:
    for name, declared in OURS.items():
        assert (declared.processes is not None) == ("local" in load_system(name).deployments)


def test_a_system_has_the_ways_that_it_declares() -> None:
    labels = {name: [way.label for way in load_system(name).ways] for name in OURS}
    assert labels["rocketmq-2m2s"] == labels["reference-dledger"] == ["retry_topic", "half"]
    assert labels["rabbitmq-quorum"] == labels["reference-mirrored"] == []


def test_only_systems_without_alarms_give_a_reason() -> None:
    for name, declared in OURS.items():
        assert declared.containers is not None
        assert (declared.containers.alarms is None) == ("alarm" in load_system(name).cannot)
        assert load_system(name).alarms is declared.containers.alarms


def test_only_local_processes_can_misbehave() -> None:
    kinds_by_name = {name: declared.misbehaves for name, declared in OURS.items()}
    assert {kind for kinds in kinds_by_name.values() for kind in kinds} == {*KINDS}
    assert not [
        name for name, kinds in kinds_by_name.items() if kinds and OURS[name].processes is None
    ]


def test_only_systems_others_may_run_declare_how_to_connect() -> None:
    for name, declared in OURS.items():
        assert (declared.foreign is not None) == ("external" in load_system(name).deployments)


@pytest.mark.parametrize("declared", OURS.values(), ids=OURS)
def test_every_shipped_layout_has_a_promise(declared: Declaration) -> None:
    label = load_system(declared.name).default_layout
    promised = declared.guarantees(catalogue.load_layout(declared.name, label))
    assert isinstance(promised, Guarantees)


def test_a_system_of_another_package_joins_ours() -> None:
    found = read([offer(QUEUE)])
    assert found.systems == {**OURS, "acme-queue": QUEUE}
    assert found.packages == {"acme-queue": "acme 1.2"}
    assert not found.spoilt


def test_a_system_of_another_package_brings_ways_of_its_own() -> None:
    parked = DeliveryWay(4, "parked", LOAD, "delivered from the parking place to", again=True)
    found = read([offer(replace(QUEUE, ways=(parked,)))])
    assert found.systems["acme-queue"].ways == (parked,)
    assert not found.spoilt


@pytest.mark.parametrize(
    ("offers", "wrong"),
    [
        ([offer(None, refused="acme:Q cannot be loaded: KeyError")], "cannot be loaded: KeyError"),
        ([offer("a text")], "leads to no declaration of a system, but to 'str'"),
        ([offer(replace(QUEUE, name="other"))], "its declaration has another name, 'other'"),
        ([offer(QUEUE), offer(QUEUE)], "the name is ambiguous"),
        ([offer(replace(QUEUE, levels=()))], "it declares no confirm level"),
        ([offer(replace(QUEUE, levels=(Level(0, "none"),)))], "its rank is from 1 to 254, not 0"),
        ([offer(replace(QUEUE, ways=OWN_WAYS[:1]))], "its number is from 4 to 254, not 1"),
        ([offer(OURS["rocketmq-2m2s"], "rocketmq-2m2s")], "mqproof itself has one of this name"),
    ],
)
def test_a_broken_declaration_does_not_hide_the_others(offers: list[Offer], wrong: str) -> None:
    found = read(offers)
    assert found.systems == OURS
    ((name, why),) = found.spoilt.items()
    assert f"the system '{name}' of acme 1.2" in why
    assert wrong in why


def test_a_run_of_a_broken_system_is_refused_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = offer(None, refused="acme:Q cannot be loaded: KeyError")
    monkeypatch.setattr(catalogue, "registry", lambda: read([broken]))
    assert main(["run", "master-crash", "--system", "acme-queue"]) == Exit.BAD_INPUT
    said = " ".join(capsys.readouterr().err.split())
    assert "the system 'acme-queue' of acme 1.2 cannot be used: acme:Q cannot be loaded" in said


@pytest.mark.parametrize(
    ("part", "deployment"),
    [("processes", "local"), ("containers", "compose"), ("foreign", "external")],
)
def test_an_undeclared_deployment_is_reported_with_its_location(
    part: str,
    deployment: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = f"without-{part}"  # a system.toml is read once in a process
    poor = replace(QUEUE, name=name, **{part: None})
    monkeypatch.setattr(catalogue, "registry", lambda: read([offer(poor, name)]))
    assert main(["run", "master-crash", "--system", name, "--dry-run"]) == Exit.BAD_INPUT
    said = " ".join(capsys.readouterr().err.split())
    assert f"lists '{deployment}', for which the declaration of {name} has no '{part}'" in said
    assert re.search(r"system\.toml, line \d+, deployments", said)
    assert "Traceback" not in said


def test_all_undeclared_deployments_are_reported_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poor = replace(QUEUE, name="in-no-way", processes=None, containers=None, foreign=None)
    monkeypatch.setattr(catalogue, "registry", lambda: read([offer(poor, "in-no-way")]))
    with pytest.raises(CatalogueError) as caught:
        load_system("in-no-way")
    assert [problem.text.split(",")[0] for problem in caught.value.problems] == [
        "lists 'local'",
        "lists 'compose'",
        "lists 'external'",
    ]


def test_a_broken_declaration_is_reported_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    spoilt = SystemRegistry(
        OURS, {}, {"acme-queue": "the system acme-queue of acme 1.2 cannot be used"}
    )
    monkeypatch.setattr(catalogue, "registry", lambda: spoilt)
    with pytest.raises(CatalogueError, match=r"acme-queue of acme 1\.2 cannot be used"):
        load_system("acme-queue")
