"""`[workload.rocketmq]`: what it says, every mistake at once, and which cells it rules out."""

import json
import tomllib
from dataclasses import replace
from importlib import resources

import pytest

from harness.plan.checks.applicability import obstacles
from harness.plan.clients.declaration import Client
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq import CLIENTS
from harness.plan.clients.rocketmq_section import SECTION as ROCKET
from harness.plan.clients.rocketmq_section import RocketWorkload
from harness.plan.clients.rocketmq_table import RocketTable
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.plan.workload import BootstrapAddress
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rocketmq.core.layout import own as rocket
from tests.rigs.inputs.mistakes import Mistake, mistakes
from tests.rigs.runs.plans import LAYOUT, SYSTEM, plan, workload

SMALL = """title = "small"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 100
"""
SECTION = SMALL + "[workload.rocketmq]\n"
SETTLED = '[phases]\nsettle = "70 s"\n'


def read(source: str) -> RocketWorkload:
    return ROCKET.of(read_scenario("mine", source).workload)


def refused(source: str) -> PlanError:
    with pytest.raises(PlanError) as caught:
        read_scenario("mine", source)
    return caught.value


def problems(source: str) -> list[str]:
    return [str(problem) for problem in refused(source).problems]


def test_file_without_send_mode_sends_as_its_confirms_imply() -> None:
    assert read(SMALL) == RocketWorkload(send="async")
    unconfirmed = SMALL + 'confirms = false\nretry = "never"\n'
    assert read(unconfirmed) == RocketWorkload(send="oneway")


def test_starter_file_explains_every_key_with_its_default() -> None:
    text = resources.files("harness.plan").joinpath("scenarios/master-crash.toml").read_text()
    lines = text.partition("# [workload.rocketmq]\n")[2].partition("\n\n")[0].splitlines()
    table = tomllib.loads("\n".join(line.removeprefix("# ") for line in lines))
    # Two say nothing without another key; without the third, a library does as it does by itself.
    unsaid = ("delay_level", "fates", "close_socket_if_timeout")
    keys = {key: table[key] for key in table if key not in unsaid}
    assert table.keys() == RocketTable.model_fields.keys()
    section = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    assert read(SECTION + section) == read(SMALL)


def test_section_sets_sending_consuming_and_special_messages() -> None:
    said = read(
        SECTION + 'send = "sync"\nconsume = "pull"\nsend_timeout = "5500 ms"\nbatch = 8\n'
        "threads = 2\ndelayed_percent = 10\ndelay_level = 4\n"
        'publishers_attach = ["rkt1"]\nconsumers_attach = ["rkt2"]\n'
        "latency_fault = true\nclose_socket_if_timeout = false\n"
        f'transactional_percent = 20\nfates = ["commit", "rollback"]\n{SETTLED}'
    )
    assert said == RocketWorkload(
        send="sync",
        consume="pull",
        send_timeout_ms=5500,
        threads=2,
        batch=8,
        delayed_percent=10,
        delay_level=4,
        transactional_percent=20,
        fates=("commit", "rollback"),
        publishers_attach=("rkt1",),
        consumers_attach=("rkt2",),
        latency_fault=True,
        close_socket_if_timeout=False,
    )


def test_all_mistakes_of_the_section_are_reported_with_choices() -> None:
    """Report all mistakes at once, each with its place."""
    error = refused(
        SECTION + 'send = "asinc"\nconsume = "push"\nsend_timeout = "5 ms"\nthread = 2\n'
        'delayed_percent = 60\ntransactional_percent = 60\nfates = ["comit", "rollback"]\n'
    )
    keys = tuple(RocketTable.model_fields)
    fates = ("commit", "rollback", "commit when checked", "rollback when checked")
    section = "mine.toml, line {}, [workload.rocketmq], {}".format
    assert mistakes(error) == [
        Mistake("mine.toml, [phases], settle", "", ("70 s",)),  # brokers may ask for fates so late
        Mistake(section(8, "send"), "async", ("sync", "async", "oneway", "ordered")),
        Mistake(section(9, "consume"), "", ("concurrent", "orderly", "pull")),
        Mistake(section(10, "send_timeout"), "", ("10 s", "250 ms", "2 min")),
        Mistake(section(11, "thread"), "threads", keys),
        Mistake(section(12, "delayed_percent")),
        Mistake(section(14, "fates, number 1"), "commit", fates),
    ]
    said = [one.text for one in error.problems]
    assert "100 ms to 60 s" in said[3]
    assert "transactional_percent" in said[5]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('send = "oneway"', "what is sent oneway is never confirmed"),
        ("delay_level = 4", "says nothing without delayed_percent"),
        ('fates = ["rollback"]', "says nothing without transactional_percent"),
        ('send = "ordered"\ndelayed_percent = 1', "what is delayed keeps no order"),
        (
            f'send = "ordered"\ntransactional_percent = 1\n{SETTLED}',
            "what is transactional keeps no order",
        ),
        (
            'send = "ordered"\nlatency_fault = true',
            "what is sent ordered takes its queue by its key",
        ),
        (
            'publishers_attach = ["rkt1", "rkt2"]',
            "2 hosts are more than there are publishers, 1",
        ),
        ('consumers_attach = ["rkt1", "rkt2"]', "2 hosts are more than there are consumers, 1"),
        # For what is committed at once, too: the word of it may be lost.
        ("transactional_percent = 1", "settle: must be at least 70 s where brokers may ask"),
    ],
)
def test_keys_that_contradict_each_other_are_a_mistake(lines: str, message: str) -> None:
    (found,) = problems(f"{SECTION}{lines}\n")
    assert message in found


def test_workload_without_confirms_sends_oneway_or_is_wrong() -> None:
    head = SECTION.replace("rate = 100", 'rate = 100\nconfirms = false\nretry = "never"')
    assert read(f'{head}send = "oneway"\n').send == "oneway"
    (sync,) = problems(f'{head}send = "sync"\n')
    assert "without confirms they are oneway" in sync
    (transactional,) = problems(f"{head}transactional_percent = 5\n{SETTLED}")
    assert "a transaction is confirmed" in transactional


def test_transaction_checks_need_long_lived_publishers() -> None:
    keys = 'transactional_percent = 1\nfates = ["commit when checked"]\n'
    assert read(f"{SECTION}{keys}{SETTLED}").fates


def test_publishers_with_pending_checks_may_not_be_killed() -> None:
    keys = "transactional_percent = 1\n"
    crash = '[[fault]]\nkind = "client_crash"\ntarget = "publisher-1"\nlasts = "2 s"\n'
    (found,) = problems(f"{SECTION}{keys}{SETTLED}{crash}")
    assert "[[fault]] 1, kind: no broker can query a dead client for the fates" in found


NAMES = tuple(one.name for one in CLIENTS)
TWO = "rocketmq-2m2s"
ROCKETMQ = replace(SYSTEM, clients=NAMES)


def reasons(client: str, **changes: object) -> str:
    scenario = replace(plan().scenario, workload=workload(**changes))
    system = SYSTEM if client == "pika" else ROCKETMQ
    return "; ".join(obstacles(scenario, system, LAYOUT, chosen_client(client), "compose"))


def test_basic_workload_is_carried_by_every_client() -> None:
    assert [reasons(client) for client in ("pika", *NAMES)] == [""] * (1 + len(NAMES))


@pytest.mark.parametrize(
    ("client", "changes", "message"),
    [
        ("rocketmq-java-4.9.8", {"acknowledge": 0}, "cannot do acknowledge nothing: a log keeps"),
        ("rocketmq-java-4.9.8", {"durable": False}, "cannot do transient: every message goes"),
        ("rocketmq-native", {"rocketmq": RocketWorkload(consume="pull")}, "cannot do pull"),
        ("pika", {"rocketmq": RocketWorkload(delayed_percent=1)}, "pika cannot do delayed"),
        (
            "pika",
            {"rocketmq": RocketWorkload(transactional_percent=1)},
            "pika cannot do transaction",
        ),
        (
            "rocketmq-native",
            {"rocketmq": RocketWorkload(latency_fault=True)},
            "cannot do latency fault: its C interface has no such setting",
        ),
        (
            "rocketmq-java-4.9.0",
            {"rocketmq": RocketWorkload(close_socket_if_timeout=True)},
            "cannot do close socket: 4.9.0 always keeps such a connection",
        ),
        (
            "rocketmq-java-4.9.8",
            {"rocketmq": RocketWorkload(publishers_attach=("rkt9",))},
            "[workload.rocketmq] publishers_attach: 'rkt9' has no name server (there are none)",
        ),
    ],
)
def test_missing_client_feature_makes_the_cell_not_applicable_with_reason(
    client: str, changes: dict[str, object], message: str
) -> None:
    assert message in reasons(client, **changes)


@pytest.mark.parametrize("client", CLIENTS, ids=NAMES)
def test_body_refused_by_a_client_is_reported_with_the_limit(
    client: Client,
) -> None:
    most = client.body_max
    assert most is not None
    assert reasons(client.name, body_bytes=most) == ""
    message = f"{client.name} takes bodies of at most {most} bytes, not {most + 1}: "
    assert reasons(client.name, body_bytes=most + 1).startswith(message)


def test_body_of_any_permitted_size_goes_by_amqp() -> None:
    assert reasons("pika", body_bytes=16_777_216) == ""


@pytest.mark.parametrize("name", ["colocated", "separated", "one-group"])
def test_native_client_runs_only_profiles_with_its_own_poll(name: str) -> None:
    def reasons_for(profile: str) -> list[str]:
        layout = load_layout("rocketmq-2m2s", f"{name}@{profile}")
        system = load_system("rocketmq-2m2s")
        return obstacles(
            plan().scenario, system, layout, chosen_client("rocketmq-native"), "compose"
        )

    assert [reasons_for(profile) for profile in ("patient", "default")] == [[], []]
    assert any("rocketmq-native cannot do settings" in one for one in reasons_for("compressed"))


def on_real(client: str, own: RocketWorkload, flags: tuple[str, ...] = ()) -> list[str]:
    """Why a cell of a real layout cannot be played."""
    layout, system = load_layout(TWO, "colocated@default"), load_system(TWO)
    layout = replace(layout, own=replace(rocket(layout), client_jvm=flags))
    scenario = replace(plan().scenario, workload=workload(rocketmq=own))
    return obstacles(scenario, system, layout, chosen_client(client), "compose")


def test_client_can_attach_only_to_name_servers_of_its_layout() -> None:
    left_open = RocketWorkload(publishers_attach=("rkt1", "rkt2"), send_is_open=True)
    for client in load_system(TWO).clients:
        assert on_real(client, left_open) == []
    message = "[workload.rocketmq] consumers_attach: 'rkt3' has no name server "
    assert on_real(NAMES[0], RocketWorkload(consumers_attach=("rkt3", "rkt1"))) == [
        f"{message}(there are those of rkt1, rkt2)"
    ]


def test_shorter_kernel_timeout_needs_containers() -> None:
    layout = load_layout(TWO, "colocated-tcp-retries2-9@default")
    scenario = replace(plan().scenario, workload=workload())
    system = replace(load_system(TWO), deployments=("compose", "local"))
    assert obstacles(scenario, system, layout, chosen_client(NAMES[0]), "compose") == []
    (reason,) = obstacles(scenario, system, layout, chosen_client(NAMES[0]), "local")
    assert reason == "client_tcp_retries2 would be the whole machine's by local"


def test_closing_the_socket_is_set_once_by_scenario_or_layout() -> None:
    flag = "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=true"
    kept = RocketWorkload(close_socket_if_timeout=False)
    assert on_real(NAMES[1], kept) == on_real(NAMES[1], RocketWorkload(), (flag,)) == []
    assert on_real(NAMES[1], kept, (flag,)) == [
        f"[workload.rocketmq] close_socket_if_timeout: the layout says it, too: {flag}"
    ]


def test_remedies_reach_workers_under_the_librarys_option_names() -> None:
    servers = load_system(TWO).servers(load_layout(TWO, "colocated@default"))
    own = RocketWorkload(
        publishers_attach=("rkt1", "rkt2"), latency_fault=True, close_socket_if_timeout=False
    )
    options = ROCKET.worker_options(own, servers)
    assert options["producer_settings"] == [["sendLatencyFaultEnable", "true"]]
    assert options["jvm"] == ["-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false"]
    assert options["publishers_attach"] == ["rkt1", "rkt2"]
    by_itself = ROCKET.worker_options(RocketWorkload(), servers)
    assert (by_itself["producer_settings"], by_itself["jvm"]) == ([], [])
    assert list(ROCKET.shows(own)) == [
        "publishers_attach = rkt1, rkt2 (in turn)",
        "sendLatencyFaultEnable = true (publishers)",
        "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false",
    ]


def test_rocketmq_workload_options_do_not_affect_pika() -> None:
    assert reasons("pika", rocketmq=RocketWorkload(send="sync", consume="pull")) == ""


def test_a_client_of_name_servers_has_no_fixed_endpoint() -> None:
    nowhere = BootstrapAddress(hosts=("elsewhere",))
    assert "no host 'elsewhere'" in reasons("pika", publisher_endpoint=nowhere)
    assert reasons("rocketmq-java-5.3.3", publisher_endpoint=nowhere) == ""


def test_capabilities_are_required_only_if_used() -> None:
    silent = workload(consumers=0, acknowledge=0)
    assert chosen_client("rocketmq-native").wanted(silent) == ["confirm", "async"]
    assert chosen_client("pika").wanted(silent) == ["confirm"]
    own = RocketWorkload(send="oneway")
    loose = workload(confirms=False, rocketmq=own)
    assert chosen_client("pika").wanted(loose) == ["oneway", "acknowledge"]
    assert chosen_client("rocketmq-native").wanted(loose) == [
        "oneway",
        "concurrent",
        "acknowledge",
    ]


def test_a_client_with_lag_reports_drains_after_the_native_consumer() -> None:
    assert chosen_client("rocketmq-native").declared.drained_by == "rocketmq-java-4.9.8"
    assert [
        chosen_client(client).declared.drained_by for client in ("pika", "rocketmq-java-5.3.3")
    ] == [
        "pika",
        "rocketmq-java-5.3.3",
    ]


PYTHON = "rocketmq-python-2.0.0"


def test_client_without_async_sends_sync_if_mode_is_open() -> None:
    left_open = read_scenario("mine", SMALL).workload
    assert "sync" in chosen_client(PYTHON).wanted(left_open)
    assert "async" in chosen_client("rocketmq-native").wanted(left_open)
    assert chosen_client(PYTHON).shown(left_open) == [
        "send = sync (the library has no async send)"
    ]
    assert chosen_client("rocketmq-native").shown(left_open) == []
    required = read_scenario("mine", SECTION + 'send = "async"\n').workload
    assert "async" in chosen_client(PYTHON).wanted(required)
    assert chosen_client(PYTHON).shown(required) == []
