"""What a plan declares: properties that claims may ask for, and words that a client ignores."""

from dataclasses import replace

import pytest

from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.declared import declared, ignored, shown
from harness.plan.layouts.layout_values import Policy
from harness.systems.catalogue import layout_names, load_layout, load_system, system_names
from harness.systems.rocketmq.core.layout import own
from tests.rigs.clusters.topologies import topology
from tests.rigs.runs.plans import fault, plan


def test_an_amqp_client_ignores_nothing_of_the_amqp_section() -> None:
    assert ignored(plan()) == []


def test_other_clients_ignore_the_amqp_section_and_record_that() -> None:
    assert ignored(replace(plan(), client=chosen_client("rocketmq-native"))) == ["workload.amqp"]


def test_rocketmq_settings_that_pika_ignores_are_reported() -> None:
    said = [RocketWorkload(), RocketWorkload(send="oneway"), RocketWorkload(consume="pull")]
    assert [ignored(plan(rocketmq=own)) for own in said] == [[], [], ["workload.rocketmq"]]


def test_settings_of_a_section_are_listed_for_its_client_only() -> None:
    said = plan(rocketmq=RocketWorkload(close_socket_if_timeout=False))
    java = replace(said, client=chosen_client("rocketmq-java-4.9.8"))
    flag = "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false"
    assert [shown(one) for one in (said, java)] == [[], [flag]]


def test_declared_facts_never_name_a_system_or_a_layout() -> None:
    of = plan()
    values = [str(value) for value in declared(of).values()]
    assert not {of.system.name, of.layout.name, of.layout.label} & set(values)


def test_the_client_endpoint_is_declared() -> None:
    of = plan()
    one = replace(of, layout=replace(of.layout, client_endpoint="one"))
    assert [declared(each)["client_endpoint"] for each in (of, one)] == ["hosts", "one"]


def test_without_consumers_nothing_is_acknowledged() -> None:
    facts = declared(plan(consumers=0, acknowledge=10))
    assert (facts["consumers"], facts["acknowledges"]) == (0, False)


def test_a_consumer_that_never_acknowledges_differs_from_no_consumer() -> None:
    cases = [(1, 10), (1, 0), (0, 0)]
    facts = [declared(plan(consumers=c, acknowledge=a))["no_ack"] for c, a in cases]
    assert facts == [False, True, False]


def test_mirror_promotion_follows_the_policy_or_the_brokers_default() -> None:
    of = plan()
    said = Policy("p", ".*", (("ha-mode", "all"), ("ha-promote-on-shutdown", "always")))
    keys = ("promote_on_shutdown", "promote_on_failure")
    found = [
        tuple(declared(replace(of, layout=replace(of.layout, policies=policies)))[k] for k in keys)
        for policies in ((), (said,))
    ]
    assert found == [("when-synced", "always"), ("always", "always")]


@pytest.mark.parametrize("system", system_names())
def test_slaves_without_election_are_never_promoted(system: str) -> None:
    """The claims of mirrors that take over apply to as many queues as before there were others."""
    for label in layout_names(system):
        layout = load_layout(system, label)
        facts = declared(replace(plan(), layout=layout, system=load_system(system)))
        assert facts["elects"] is (system not in ("rocketmq-2m2s", "reference-2m2s")), label
        assert facts["elects"] is (facts["promote_on_failure"] != "never"), label


def test_foreign_mirrors_are_promoted_without_a_declared_policy() -> None:
    of = plan()
    facts = declared(replace(of, layout=replace(of.layout, topology=topology())))
    assert (facts["elects"], facts["promote_on_failure"]) == (True, None)


def test_the_faults_of_the_schedule_are_counted() -> None:
    kill = fault("kill")
    assert [declared(plan(*faults))["faults"] for faults in ((), (kill,), (kill, kill))] == [
        0,
        1,
        2,
    ]


def test_amqp_recovers_in_two_seconds_others_after_poll_and_send() -> None:
    of = plan()
    assert declared(of)["reconnect_s"] == 2
    layout = load_layout("rocketmq-2m2s", layout_names("rocketmq-2m2s")[0])
    rocket = load_system("rocketmq-2m2s")
    native = replace(of, client=chosen_client("rocketmq-native"), layout=layout, system=rocket)
    assert declared(native)["reconnect_s"] == own(layout).timers.poll_s + 3
    strangers = replace(of, client=chosen_client("rocketmq-native"))
    assert declared(strangers)["reconnect_s"] is None, "their poll interval is undeclared"


@pytest.mark.parametrize(("rate", "few"), [(9.9, 99), (10.0, None), (200.0, None), (None, None)])
def test_a_scenario_that_sends_few_on_purpose_says_how_many(
    rate: float | None, few: int | None
) -> None:
    of = plan(rate=rate)
    schedule = replace(of.schedule, baseline_s=4.0, windows=(), steps=(), recovery_s=6.0)
    assert declared(replace(of, schedule=schedule))["messages"] == few
