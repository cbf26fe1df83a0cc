"""Clients: what each declares about itself, and that an unknown name is an error."""

from collections.abc import Callable
from dataclasses import MISSING, fields, replace

import pytest

from harness.outside.installed import Offer
from harness.plan.checks.applicability import obstacles
from harness.plan.clients import amqp, rocketmq
from harness.plan.clients.declaration import (
    CAN,
    CAPABILITIES,
    UNDECLARED,
    Client,
    Family,
    Finds,
    Look,
    mistakes,
)
from harness.plan.clients.registry import OURS, named, of_family, read, registry
from harness.plan.clients.requirements import chosen_client, resends
from harness.plan.declared import declared, ignored, reconnect_s
from harness.plan.experiment import Catalogue, ExperimentOptions
from harness.plan.experiment import plan as plan_of
from harness.plan.layouts.jars import JarSet
from harness.plan.problems import PlanError
from harness.run.drivers import driver
from harness.workers.loading import loaded
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan, workload

EVERY = pytest.mark.parametrize("client", OURS.values(), ids=list(OURS))


@EVERY
@pytest.mark.parametrize("capability", CAPABILITIES)
def test_every_client_answers_every_capability_with_yes_or_a_reason(
    client: Client, capability: str
) -> None:
    answer = client.answers[capability]
    assert answer is CAN or (isinstance(answer, str) and len(answer) > 10)


@EVERY
def test_unknown_capabilities_have_no_provider_and_all_declarations_hold(client: Client) -> None:
    assert client.answers.keys() <= CAPABILITIES.keys()
    assert not list(mistakes(client))


@pytest.mark.parametrize("declared", [Client, Family])
def test_no_trait_has_a_default_that_would_pass_unnoticed(declared: type) -> None:
    defaults = [
        one.name
        for one in fields(declared)
        if one.default is not MISSING or one.default_factory is not MISSING
    ]
    assert defaults == []


@EVERY
def test_modules_that_a_worker_imports_exist(client: Client) -> None:
    driven = driver(client)
    programs = [text for text in (driven.client, driven.auditor, driven.prober) if text]
    assert all(callable(loaded(text)) for text in programs)
    patient = client.family.finds is Finds.NAME_SERVERS
    assert loaded(driven.client).answers_every_send is patient


@EVERY
def test_the_drainer_can_report_that_a_queue_is_empty(client: Client) -> None:
    assert not list(chosen_client(client.name).drain_obstacles())


def test_a_client_cannot_do_what_it_does_not_declare() -> None:
    less = {name: answer for name, answer in amqp.PIKA.answers.items() if name != "transient"}
    assert replace(amqp.PIKA, answers=less).why_not("transient") == UNDECLARED
    for answer in ("", False, None, 1, "yes, but"):
        assert replace(amqp.PIKA, answers={"async": answer}).why_not("async")  # type: ignore[dict-item]


def test_a_family_has_its_clients_and_no_other() -> None:
    assert of_family(amqp.AMQP) == (amqp.PIKA,)
    assert of_family(rocketmq.ROCKETMQ) == rocketmq.CLIENTS


QUESTIONS = {
    "whom it asks": lambda name: chosen_client(name).uses_name_servers,
    "who drains": lambda name: chosen_client(name).drainer,
    "what is asked": lambda name: chosen_client(name).wanted(workload()),
    "what it can": lambda name: chosen_client(name).obstacles(["async"]),
    "how much": lambda name: chosen_client(name).size_obstacles(workload()),
    "what it ignores": lambda name: chosen_client(name).ignored(workload()),
    "what claims ask": lambda name: chosen_client(name).facts(workload()),
    "worker options": lambda name: chosen_client(name).worker_options(
        workload(), SYSTEM.servers(LAYOUT)
    ),
    "what is counted": lambda name: chosen_client(name).counted(workload(), 1.0),
    "when it is back": lambda name: reconnect_s(chosen_client(name), SYSTEM.guarantees(LAYOUT)),
    "what it imports": lambda name: driver(named(name)),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
@pytest.mark.parametrize("name", ["pikka", "rocketmq-java-4.7.0", ""])
def test_unknown_client_is_an_error_that_names_the_known_ones(
    question: Callable[[str], object], name: str
) -> None:
    with pytest.raises(PlanError) as caught:
        question(name)
    (problem,) = caught.value.problems
    assert problem.choices == tuple(OURS)
    assert problem.text == f"there is no client {name!r}"


def test_system_that_names_an_unknown_client_plans_no_run() -> None:
    system = replace(SYSTEM, clients=("amqplib",))
    request = ExperimentOptions("e", 7, (plan().scenario,))
    with pytest.raises(PlanError, match="there is no client 'amqplib'"):
        plan_of(request, Catalogue((system,), (LAYOUT,)))


def offer(client: object, name: str = "acme", package: str = "acme-queues 1.2") -> Offer:
    return Offer(name, package, client)


ACME = replace(amqp.PIKA, name="acme", drained_by="acme")
SPOILT = {
    "no declaration": ([offer("pika")], "leads to no declaration of a client, but to 'str'"),
    "a class": ([offer(Client)], "leads to no declaration of a client, but to 'type'"),
    "another name": ([offer(amqp.PIKA)], "another name, 'pika'"),
    "no import": ([Offer("acme", "a 1", None, "'acme:X' cannot be loaded")], "cannot be loaded"),
    "two of them": ([offer(ACME), offer(ACME, package="b 1")], "the name is ambiguous"),
    "no constructor": ([offer(replace(ACME, constructor="acme"))], "no `module:object`: 'acme'"),
    "no name": ([offer(replace(ACME, name="A/B"), "A/B")], "'A/B' is no name"),
    "neither yes nor no": (
        [offer(replace(ACME, answers={"async": ""}))],
        "'async' is answered by neither",
    ),
    "no family": (
        [offer(replace(ACME, family="amqp"))],  # type: ignore[arg-type]
        "its family is no Family",
    ),
    "unknown jars": (
        [offer(replace(ACME, jars=JarSet(name="acme", artifacts=("a:b",), lock="x", classes="")))],
        "its jars: 'a:b' is no `group:artifact:version`",
    ),
    "no jars": (
        [offer(replace(ACME, jars=("acme:1",)))],  # type: ignore[arg-type]
        "its jars are no JarSet, but",
    ),
    "nothing that looks": (
        [offer(replace(ACME, look="acme.found"))],  # type: ignore[arg-type]
        "what looks for it is no Look, but \"'acme.found'\"",
    ),
    "jars of another": (
        [offer(replace(ACME, jars=rocketmq.CLIENTS[0].jars))],
        "its jars bear another name, 'rocketmq-java-4.9.0'",
    ),
    "no module that looks": (
        [offer(replace(ACME, look=Look("Acme", "acme;rm -r /")))],
        "what looks for it is no module: 'acme;rm -r /'",
    ),
    "no prober": (
        [offer(replace(ACME, family=replace(amqp.AMQP, finds=Finds.NAME_SERVERS)))],
        "has no prober",
    ),
}


@pytest.mark.parametrize(("offers", "why"), SPOILT.values(), ids=list(SPOILT))
def test_broken_client_offer_is_reported_and_harms_no_other(offers: list[Offer], why: str) -> None:
    good = replace(ACME, name="good", drained_by="good")
    found = read([*offers, offer(good, "good", "good-queues 3")])
    assert found.clients.keys() == OURS.keys() | {"good"}
    assert found.packages == {"good": "good-queues 3"}
    (reason,) = found.spoilt.values()
    assert why in reason and offers[0].package in reason


def test_an_offered_client_cannot_replace_a_shipped_one() -> None:
    found = read([offer(amqp.PIKA, "pika")])
    assert found.clients == OURS and found.packages == {}
    assert "mqproof itself has one of this name" in found.spoilt["pika"]


def test_a_broken_offer_is_reported_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = read(SPOILT["no import"][0])
    monkeypatch.setattr("harness.plan.clients.registry.registry", lambda: found)
    with pytest.raises(
        PlanError, match="of a 1 cannot be used: 'acme:X' cannot be loaded"
    ) as error:
        named("acme")
    assert error.value.problems[0].choices == tuple(OURS)


STRANGER = Family(
    name="acme's own",
    section=None,
    finds=Finds.HOSTS,
    confirms_routed=lambda _workload: False,
    unconfirmed_max=lambda _workload: 100,
    auditor="",
    prober="",
    not_accepted={},
    unanswered={},
    foreign_keys={},
)


def test_client_of_a_third_family_is_neither_amqp_nor_rocketmq(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = replace(ACME, family=STRANGER, answers={"confirm": CAN}, reconnect_s=None)
    found = read([offer(client)])
    monkeypatch.setattr("harness.plan.clients.registry.registry", lambda: found)
    monkeypatch.setattr("harness.plan.clients.requirements.registry", lambda: found)
    system = replace(SYSTEM, clients=("acme",))
    run = replace(plan(), system=system, client=chosen_client("acme"))
    facts = declared(run)
    not_applicable = {
        "not_applicable": "its clients do not speak AMQP"
    }  # as older runs have recorded it
    assert facts["mandatory"] == facts["cancel_on_ha_failover"] == not_applicable
    assert (facts["reconnect_s"], facts["client_endpoint"]) == (None, LAYOUT.client_endpoint)
    assert ignored(run) == ["workload.amqp"]
    assert obstacles(run.scenario, system, LAYOUT, chosen_client("acme"), "local")[:2] == [
        f"acme cannot do acknowledge: {UNDECLARED}",
        f"the queues of acme cannot be drained: acme cannot do remaining: {UNDECLARED}",
    ]


def test_ours_are_there_whatever_is_installed() -> None:
    assert registry().clients.items() >= OURS.items()


@pytest.mark.parametrize(
    ("client", "words"),
    [
        ("pika", ""),
        ("rocketmq-java-4.9.8+latency_fault=true", ""),
        ("rocketmq-python-2.0.0", "may send a message again by itself: the library sends again"),
        ("of-a-package", "may send a message again by itself: its package is not installed"),
    ],
)
def test_a_client_that_may_resend_by_itself_says_why(client: str, words: str) -> None:
    assert words in resends(client)
    assert bool(words) is bool(resends(client))
