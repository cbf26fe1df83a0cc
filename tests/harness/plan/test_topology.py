"""A topology file: what it says, what is wrong with it, and what it allows."""

from dataclasses import replace

import pytest

from faults.kinds.network.flap import FlapOptions
from faults.kinds.network.partition import PartitionOptions
from harness.plan.checks.applicability import obstacles
from harness.plan.checks.permission import unverified
from harness.plan.clients.requirements import chosen_client
from harness.plan.declared import declared
from harness.plan.layouts.layout_values import PauseIfAllDown
from harness.plan.layouts.topology import Tls
from harness.plan.model import FaultPlan, Layout
from harness.plan.problems import PlanError
from harness.request.topology_file import example
from harness.systems.catalogue import load_system
from harness.systems.rabbitmq.foreign.core.own import own
from harness.systems.topologies import layout_of, read_topology
from tests.rigs.clusters.topologies import (
    FREEZE,
    HEAD,
    HOSTS,
    START,
    SYSTEMS,
    broker,
    text,
    topology,
)
from tests.rigs.runs.plans import SYSTEM, fault, plan


def problems(source: str, name: str = "staging") -> str:
    with pytest.raises(PlanError) as error:
        read_topology(name, source, SYSTEMS)
    return str(error.value)


def why_not(of: FaultPlan, layout: Layout) -> str:
    scenario = plan(of).scenario
    system = replace(SYSTEM, deployments=("external",))
    return "\n".join(obstacles(scenario, system, layout, chosen_client("pika"), "external"))


def test_the_example_is_a_topology_and_explains_itself() -> None:
    found = read_topology("staging", example(), SYSTEMS)
    assert [one.host for one in found.brokers] == ["rmq1", "rmq2", "rmq3"]
    assert found.variables == ("RABBITMQ_USER", "RABBITMQ_PASSWORD")
    assert found.brokers[0].commands["kill"].deadline_s == 60
    assert found.brokers[1].commands == {}
    kill, stop = (found.brokers[0].commands[kind].verify for kind in ("kill", "stop"))
    assert kill == stop  # what starts itself again has not failed


@pytest.mark.parametrize(
    ("system", "hosts", "copies"),
    [
        ("rabbitmq-quorum", 3, 3),
        ("rabbitmq-stream", 3, 3),
        ("rocketmq-2m2s", 4, 2),
        ("rocketmq-dledger", 3, 3),
    ],
)
def test_every_real_system_has_an_example_of_its_own(system: str, hosts: int, copies: int) -> None:
    found = read_topology("staging", example(system), (system,))
    assert (found.system, len(found.brokers)) == (system, hosts)
    assert layout_of(found).copies == copies
    assert found.brokers[0].commands["kill"].verify
    assert example() == example("rabbitmq-mirrored")


def test_every_mistake_is_reported_at_once_with_place_and_choices() -> None:
    source = text('[proxy]\nlisten = "10.0.0.9"\n').replace('"http://10.0.0.2', '"ftp://10.0.0.2')
    source = source.replace('system = "reference', 'system = "refrence')
    source = source.replace('host = "gamma"', 'host = "alpha"')
    source = source.replace('["stopper", "thaw"]', '"stopper thaw"', 1)
    source = source.replace("[credentials]", "[workers]\nplace = 'rack'\n[credentials]\nusr = 'A'")
    messages = problems(source, "Staging")
    for words in (
        "small letters, digits and hyphens",
        "line 2, system: there is no system 'refrence-mirrored'; did you mean 'reference-mi",
        "[[broker]] 3, host: 'alpha' is another broker's already",
        "[[broker]] 2, management: must be http://ADDRESS:PORT",
        "[[broker]] 1, freeze, undo: must be a list of words, for no shell reads it",
        "[credentials], usr: there is no such key; did you mean 'user'?; valid: user | password",
        "[workers], place: 'rack' is not a valid value: workers run only on this machine",
        'proxy: either mqproof starts a proxy, or it uses one that is there; valid: start = "emb',
        "only a proxy that is there listens elsewhere",
    ):
        assert words in messages, messages


PAUSING = HEAD.replace("[credentials]", 'partition_handling = "pause_if_all_down"\n[credentials]')
PAUSE = '[pause_if_all_down]\nhosts = ["alpha", "gamma"]\nrecover = "autoheal"\n'


def test_pause_if_all_down_names_the_hosts_it_watches() -> None:
    layout = layout_of(topology(PAUSE, head=PAUSING))
    assert layout.partition_handling == "pause_if_all_down"
    assert layout.pause_if_all_down == PauseIfAllDown(("alpha", "gamma"), "autoheal")
    assert layout_of(topology()).pause_if_all_down is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (text(head=PAUSING), "partition_handling: needs a table [pause_if_all_down] with hosts"),
        (text(PAUSE), "pause_if_all_down: is only for partition_handling = 'pause_if_all_down'"),
        (
            text(PAUSE.replace("gamma", "gama"), head=PAUSING),
            "there is no broker's host 'gama'; did you mean 'gamma'?; valid: alpha | beta | gamma",
        ),
        (
            text(PAUSE.replace("autoheal", "pause"), head=PAUSING),
            "[pause_if_all_down], recover: 'pause' is not a valid value; valid: ignore | autoheal",
        ),
        (text(PAUSE.replace("recover", "recovr"), head=PAUSING), "did you mean 'recover'?"),
    ],
)
def test_pause_hosts_are_brokers_and_required_if_used(source: str, words: str) -> None:
    assert words in problems(source)


@pytest.mark.parametrize(
    "source",
    [
        text().replace("http://10.0.0.1", "http://guest:guest@10.0.0.1"),
        text().replace('amqp = "10.0.0.1', 'amqp = "guest:guest@10.0.0.1'),
    ],
)
def test_credentials_in_the_file_are_refused(source: str) -> None:
    assert "credentials never stand in" in problems(source)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ('amqp = "10.0.0.1:5672"', 'amqp = "10.0.0.1"', "amqp: must be ADDRESS:PORT"),
        ('amqp = "10.0.0.1:5672"', 'amqp = "10.0.0.1:65536"', "amqp: must be ADDRESS:PORT"),
        (
            'amqp = "10.0.0.1:5672"',
            'amqp = "amqps://10.0.0.1:5671"',
            "amqps:// is TLS: write amqps = ",
        ),
        ('amqp = "10.0.0.1:5672"', 'amqp = "amqp://10.0.0.1:5672"', "without amqp://"),
        ('amqp = "10.0.0.1:5672"', 'amqp = "fe80::1:5672"', "of IPv6 [ADDRESS]:PORT"),
        ('amqp = "10.0.0.1:5672"', 'amqp = "10.0.0.1;reboot:5672"', "amqp: must be ADDRESS:PORT"),
        ('amqp = "10.0.0.1:5672"', 'amqp = "-oProxy:5672"', "amqp: must be ADDRESS:PORT"),
        ("http://10.0.0.1:15672", "http://10.0.0.1:99999", "management: must be http://"),
        ("http://10.0.0.1:15672", "http://10.0.0.1:http", "management: must be http://"),
        ("http://10.0.0.1:15672", "http://10.0 .0.1:15672", "management: must be http://"),
        ("http://10.0.0.1:15672", "http://10.0.0.1/#x", "management: must be http://"),
        ("rabbit@ref1", "ref1", "node: must be what the cluster calls the node, like rabbit@"),
        ('start = "embedded"', 'start = "embeded"', "did you mean 'embedded'?"),
        (START, '[proxy]\nat = "10.0.0.9:8474"\nlisten = "10.0.0.9:1"\n', "without a port"),
    ],
)
def test_an_unreachable_address_is_reported_before_the_run(
    right: str, wrong: str, words: str
) -> None:
    source = text(START)
    assert right in source
    assert words in problems(source.replace(right, wrong, 1))


def test_an_ipv6_address_gets_brackets_only_for_the_proxy() -> None:
    source = text('[proxy]\nat = "[::1]:8474"\n').replace("10.0.0.1:5672", "[fe80::1%eth0]:5672")
    found = read_topology("staging", source, SYSTEMS)
    assert (found.brokers[0].address, found.brokers[0].port) == ("fe80::1%eth0", 5672)
    assert found.brokers[0].upstream == "[fe80::1%eth0]:5672"
    assert found.proxy is not None
    assert (found.proxy.at, found.proxy.listen) == ("[::1]:8474", "::1")


def test_variables_of_mqproof_are_reserved() -> None:
    assert "mqproof's own" in problems(text().replace("REFERENCE_USER", "MQPROOF_USER"))


def test_setting_a_policy_requires_stating_it() -> None:
    messages = problems(text('[queues]\npolicies = "set"\n'))
    assert "[queues], copies: is missing" in messages
    assert "[queues], synchronise: is missing" in messages
    assert "4 copies on 3 brokers" in problems(text("[queues]\ncopies = 4\n"))


@pytest.mark.parametrize(
    ("copies", "mode"),
    [(3, {"ha-mode": "all"}), (2, {"ha-mode": "exactly", "ha-params": 2})],
)
def test_the_mqproof_policy_has_its_name_and_matches_run_queues(
    copies: int, mode: dict[str, object]
) -> None:
    words = f'[queues]\npolicies = "set"\ncopies = {copies}\nsynchronise = "automatic"\n'
    (policy,) = layout_of(topology(words)).policies
    assert (policy.name, policy.pattern) == ("mqproof.staging", r"^mqproof\.")
    assert dict(policy.definition) == {**mode, "ha-sync-mode": "automatic"}


def test_an_undeclared_property_is_unknown() -> None:
    found = layout_of(topology())
    assert (found.label, found.policies) == ("staging@T=10", ())
    facts = declared(replace(plan(), layout=found))
    assert [facts[name] for name in ("copies", "synchronise", "partition_handling")] == [None] * 3
    assert facts["detection_timeout_s"] == 10


def test_declared_properties_reach_the_claims() -> None:
    head = f'partition_handling = "autoheal"\n{HEAD}'
    found = layout_of(topology('[queues]\ncopies = 3\nsynchronise = "manual"\n', head=head))
    facts = declared(replace(plan(), layout=found))
    values = [facts[name] for name in ("copies", "synchronise", "partition_handling")]
    assert values == [3, "manual", "autoheal"]


PROMISED = ("mirrored_on", "promote_on_failure", "promote_on_shutdown")


def promised(words: str) -> list[object]:
    facts = declared(replace(plan(), layout=layout_of(topology(words))))
    return [facts[name] for name in PROMISED]


def test_broker_policy_promises_can_be_declared_and_default_to_unknown() -> None:
    assert promised("") == [None, None, None]
    words = 'mirrored_on = "all"\npromote_on_failure = "when-synced"\n'
    assert promised(f"[queues]\n{words}") == ["all", "when-synced", None]
    assert "promote_on_failure: 'no' is not a valid" in problems(
        text('[queues]\npromote_on_failure = "no"\n')
    )


def test_the_mqproof_policy_makes_every_promise_known() -> None:
    head = '[queues]\npolicies = "set"\nsynchronise = "automatic"\n'
    assert promised(f"{head}copies = 3\n") == ["all", "always", "when-synced"]
    assert promised(f"{head}copies = 2\n") == ["exactly", "always", "when-synced"]
    other = f'{head}copies = 3\npromote_on_shutdown = "always"\n'
    assert promised(other) == ["all", "always", "always"]
    (policy,) = layout_of(topology(other)).policies
    assert dict(policy.definition)["ha-promote-on-shutdown"] == "always"
    assert "follows from copies" in problems(text(f'{head}copies = 3\nmirrored_on = "all"\n'))


def test_fault_without_its_command_is_an_obstacle_with_alternatives() -> None:
    why = why_not(fault("kill"), layout_of(topology()))
    assert "no command for kill of alpha; no command for kill of beta" in why
    assert "it allows freeze, client_crash, client_freeze" in why


def test_late_bound_target_needs_the_command_on_every_possible_host() -> None:
    lines = [broker(0, commands=FREEZE), broker(1, commands=FREEZE), broker(2)]
    found = read_topology("staging", "\n".join([HEAD, *lines]), SYSTEMS)
    why = why_not(fault("freeze"), layout_of(found))
    assert "no command for freeze of gamma; it allows freeze of alpha and beta" in why
    assert why_not(fault("freeze", "beta"), layout_of(found)) == ""


def test_links_are_broken_only_where_there_is_a_proxy() -> None:
    assert "no proxy for hang" in why_not(fault("hang"), layout_of(topology()))
    assert why_not(fault("hang"), layout_of(topology(START))) == ""


def test_packets_of_others_are_dropped_by_their_owner_alone() -> None:
    why = why_not(fault("partition"), layout_of(topology(START)))
    assert "no command for partition of alpha" in why
    flap = fault("flap", options=FlapOptions(down_s=1, up_s=1))
    why = why_not(flap, layout_of(topology(START)))
    assert "external offers no flap: mqproof drops no packets between hosts that it" in why
    assert "it allows freeze, hang" in why


def test_a_command_cuts_one_host_off_and_knows_no_other_shape() -> None:
    layout = layout_of(topology(commands=FREEZE.replace("freeze]", "partition]")))
    assert why_not(fault("partition"), layout) == ""
    why = why_not(fault("partition", options=PartitionOptions(shape="bridge")), layout)
    assert "a command cuts one host off from all others, so shape = 'bridge'" in why


TLS = '[tls]\nca = "ca.pem"\n'
ENCRYPTED = text(TLS).replace("amqp =", "amqps =").replace(":5672", ":5671")


def test_tls_needs_an_authority_and_every_broker() -> None:
    found = read_topology("staging", ENCRYPTED, SYSTEMS)
    assert found.tls == Tls("ca.pem")
    assert found.client_capabilities == ("tls",)
    one = ENCRYPTED.replace("amqps =", "amqp =", 1)
    assert "[[broker]] 1, amqps: all listeners, or none" in problems(one)
    assert "amqps: needs a table [tls] with `ca`" in problems(ENCRYPTED.replace(TLS, ""))
    assert "tls: is used by no broker: none has `amqps`" in problems(text(TLS))
    both = ENCRYPTED.replace("amqps =", 'amqp = "10.0.0.7:1"\namqps =', 1)
    assert "[[broker]] 1, amqp: needs exactly one of `amqp` and `amqps`" in problems(both)
    key = ENCRYPTED.replace(TLS, f'{TLS}key = "a.key"\n')
    assert "[tls], key: is a key without `certificate`" in problems(key)


def test_bytes_are_not_counted_through_tls() -> None:
    source = ENCRYPTED.replace("[tls]", f"{START}\n[tls]")
    layout = layout_of(read_topology("staging", source, SYSTEMS))
    assert "TLS adds bytes of its own" in why_not(fault("cut_after"), layout)
    assert why_not(fault("hang"), layout) == ""


def test_a_client_that_knows_no_virtual_host_is_an_obstacle() -> None:
    layout = layout_of(topology(head=f'virtual_host = "orders"\n{HEAD}'))
    assert layout.topology is not None
    assert layout.topology.client_capabilities == ("virtual host",)
    assert why_not(fault("freeze"), layout) == ""
    (reason,) = chosen_client("rocketmq-java-5.3.3").obstacles(layout.topology.client_capabilities)
    assert "cannot do virtual host: RocketMQ has none" in reason
    assert "virtual_host: must be a name" in problems(text(head=f'virtual_host = ""\n{HEAD}'))


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ('"x-message-ttl" = 1000', "the broker would drop messages that it confirmed"),
        ('"x-dead-letter-exchange" = "dead"', "where no consumer of mqproof reads them"),
        ('"x-max-priority" = 5', "priorities change the order"),
        ('"x-queue-type" = "stream"', "rabbitmq-stream has streams"),
        ('"x-max-age" = "1h"', "the broker would drop messages that it confirmed"),
        ('"x-queue-type" = "quorum"', "the file's `system` says it"),
        ('"x-queue-mood" = "lazy"', "'x-queue-mood': what it changes is unknown here; known: x-"),
        ('"x-queue-mode" = true', "x-queue-mode: must be a text or a whole number"),
    ],
)
def test_an_argument_that_changes_promises_is_refused(argument: str, words: str) -> None:
    source = text(f"[queues]\narguments = {{ {argument} }}\n")
    assert words in problems(source)


def test_arguments_reach_every_declaration() -> None:
    found = topology('[queues]\narguments = { "x-queue-mode" = "lazy" }\n')
    assert own(found).arguments == (("x-queue-mode", "lazy"),)


QUORUM = HEAD.replace("reference-mirrored", "rabbitmq-quorum")


def test_quorum_queues_require_their_number_of_members() -> None:
    source = text("[queues]\nmembers = 3\n", head=QUORUM)
    found = read_topology("staging", source, ("rabbitmq-quorum",))
    layout = layout_of(found)
    assert (layout.copies, layout.synchronise, layout.policies) == (3, "automatic", ())
    with pytest.raises(PlanError, match="queues: is missing"):
        read_topology("staging", text(head=QUORUM), ("rabbitmq-quorum",))
    with pytest.raises(PlanError, match="4 members on 3 brokers"):
        read_topology("staging", source.replace("= 3", "= 4"), ("rabbitmq-quorum",))


STREAMS = HEAD.replace("reference-mirrored", "rabbitmq-stream")


def test_a_stream_has_a_replica_on_every_node() -> None:
    layout = layout_of(read_topology("staging", text(head=STREAMS), ("rabbitmq-stream",)))
    assert (layout.copies, layout.synchronise, layout.policies) == (3, "automatic", ())
    system = load_system("rabbitmq-stream")
    assert [one.host for one in system.servers(layout).logs] == list(HOSTS)
    for kind, reasons in (("freeze", 0), ("kill", 1)):
        scenario = plan(fault(kind)).scenario
        found = obstacles(scenario, system, layout, chosen_client("pika-stream"), "external")
        assert len(found) == reasons, found


def test_streams_refuse_a_balancer_and_a_number_of_members() -> None:
    source = text('[balancer]\namqp = "10.0.0.100:5672"\n[queues]\nmembers = 3\n', head=STREAMS)
    with pytest.raises(PlanError) as error:
        read_topology("staging", source, ("rabbitmq-stream",))
    assert "balancer: is not possible with streams" in str(error.value)
    assert "members: " in str(error.value)


BALANCED = text('[balancer]\namqp = "10.0.0.100:5672"\n')


def test_a_balancer_replaces_the_addresses_of_brokers() -> None:
    source = "\n".join(line for line in BALANCED.splitlines() if ".1:5672" not in line)
    found = read_topology("staging", source, SYSTEMS)
    assert [one.reached for one in found.brokers] == [False, True, True]
    assert found.brokers[0].upstream == "10.0.0.100:5672"
    assert [one.host for one in found.entrances] == ["balancer"]
    layout = layout_of(found)
    assert (layout.client_endpoint, layout.balancers, layout.is_balanced) == ("balancer", (), True)
    named = BALANCED.replace('"alpha"', '"balancer"')
    assert "host: is what reports call the balancer" in problems(named)
    assert "[balancer], amqp: is missing" in problems(text("[balancer]\n"))


def test_one_management_api_is_enough_and_none_is_refused() -> None:
    alone = "\n".join(line for line in text().splitlines() if "10.0.0.2:15" not in line)
    alone = "\n".join(line for line in alone.splitlines() if "10.0.0.3:15" not in line)
    found = read_topology("staging", alone, SYSTEMS)
    assert own(found).management == {"alpha": "http://10.0.0.1:15672"}
    cut = alone.replace("freeze]", "partition]")
    layout = layout_of(read_topology("staging", cut, SYSTEMS))
    assert "the file names no API of beta, gamma" in why_not(fault("partition"), layout)
    none = "\n".join(line for line in text().splitlines() if ":15672" not in line)
    assert "management: is missing: at least one broker's API" in problems(none)


def test_a_host_of_others_is_never_left_down() -> None:
    kill = FREEZE.replace("freeze]", "kill]")
    why = why_not(fault("kill", returns=False), layout_of(topology(commands=kill)))
    assert "would leave a host down that mqproof did not start" in why
    stays = fault("client_crash", returns=False)
    assert why_not(stays, layout_of(topology())) == ""


def test_an_unverified_command_is_known_before_the_run() -> None:
    blind = topology(commands=FREEZE.replace('verify = ["stopper", "frozen"]', ""))
    assert unverified(fault("freeze"), blind) == HOSTS
    assert unverified(fault("freeze", "beta"), blind) == ("beta",)
    assert unverified(fault("freeze"), topology()) == ()


def test_mistakes_carry_their_brokers_line_and_follow_line_order() -> None:
    source = text().replace(
        'verify = ["stopper", "frozen"]', 'verify = ["stopper", "frozen"]\ndeadline = "0 s"'
    )
    source = source.replace("net_ticktime", "net_tick")
    messages = problems(source).splitlines()
    places = [
        number
        for number, line in enumerate(source.splitlines(), start=1)
        if line.startswith(("net_tick", "deadline"))
    ]
    assert [line.split(", ")[1] for line in messages if "line" in line] == [
        f"line {number}" for number in places
    ]
    assert [line.split(": ")[0].split(", ", 2)[2] for line in messages[-3:]] == [
        f"[[broker]] {number}, freeze, deadline" for number in (1, 2, 3)
    ]
