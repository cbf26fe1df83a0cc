"""Scenario files: what they say, and every mistake told at once."""

from importlib import resources

import pytest

from faults.kinds import KINDS, FaultRegistry
from faults.kinds.client_links.hang import HangOptions
from harness.plan.clients.amqp_section import AmqpWorkload
from harness.plan.files import fault_table
from harness.plan.files.spans import Duration
from harness.plan.files.targets import parse_target
from harness.plan.files.toml import read_scenario
from harness.plan.files.toml_problems import FOUND_MAX, document_of
from harness.plan.model import FaultPlan
from harness.plan.problems import LISTED_MAX, PlanError
from harness.plan.workload import BootstrapAddress, Retry

SMALL = """
title = "small"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = "max"
acknowledge = "none"
publisher_endpoint = ["rmq2", "rmq3"]
consumer_endpoint = "rmq1"
[workload.amqp]
heartbeat = "10 s"
[[fault]]
kind = "hang"
target = "master of orders"
clients = "publishers"
opens = "1 T"
lasts = "2 s"
"""
FOLDER = resources.files("harness.plan").joinpath("scenarios")
SHIPPED = sorted(
    file.name.removesuffix(".toml") for file in FOLDER.iterdir() if file.name.endswith(".toml")
)


def problems(source: str, name: str = "mine") -> list[str]:
    with pytest.raises(PlanError) as caught:
        read_scenario(name, source)
    return [str(problem) for problem in caught.value.problems]


def test_a_small_file_says_all_that_it_must() -> None:
    scenario = read_scenario("small", SMALL)
    workload = scenario.workload
    assert (workload.rate, workload.acknowledge, workload.retry) == (
        None,
        0,
        Retry.UNTIL_CONFIRMED,
    )
    assert workload.publisher_endpoint == BootstrapAddress(hosts=("rmq2", "rmq3"))
    assert workload.consumer_endpoint == BootstrapAddress(hosts=("rmq1",))
    assert workload.sections == {"amqp": AmqpWorkload(heartbeat_s=10)}
    assert scenario.faults == (
        FaultPlan(
            KINDS["hang"],
            parse_target("master of orders"),
            Duration(0, 1),
            Duration(2),
            options=HangOptions(clients="publishers"),
        ),
    )
    assert scenario.source == SMALL


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_scenarios_can_be_read(name: str) -> None:
    scenario = read_scenario(name, FOLDER.joinpath(f"{name}.toml").read_text())
    # What is measured at full pace, or of times without a fault, says so by its name or its rate.
    calm = scenario.workload.rate is None or name.endswith("-calm")
    assert scenario.faults or scenario.operations or calm
    assert scenario.story


@pytest.mark.parametrize("name", SHIPPED)
def test_a_story_of_connections_is_true_with_name_servers(name: str) -> None:
    """With name servers, clients are connected to every master, not to that of one queue."""
    story = read_scenario(name, FOLDER.joinpath(f"{name}.toml").read_text()).story
    if "connected to the host of" in story:
        assert "(with name servers: to every master)" in " ".join(story.split())


def test_queue_left_to_the_drain_still_needs_a_publisher() -> None:
    unread = SMALL.replace("consumers = 1", "consumers = 0")
    assert read_scenario("unread", unread).workload.consumers == 0
    assert any(
        "publishers" in line
        for line in problems(SMALL.replace("publishers = 1", "publishers = 0"))
    )


FREEZE = SMALL.replace('"hang"', '"client_freeze"').replace("master of orders", "clients")


@pytest.mark.parametrize("target", ["clients", "publisher-1", "consumer-1"])
def test_a_fault_of_clients_names_them(target: str) -> None:
    (fault,) = read_scenario("freeze", FREEZE.replace("clients", target, 1)).faults
    assert (fault.kind.name, fault.target.word) == ("client_freeze", target)


HANG = SMALL.replace('"publishers"', '"consumers"')


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (HANG.replace("consumers = 1", "consumers = 0"), "the workload has no consumers"),
        (FREEZE.replace('"clients"', '"rmq1"'), "the target of a client_freeze is clients"),
        (FREEZE.replace('"clients"', '"uninvolved"'), "the target of a client_freeze is clients"),
        (SMALL.replace('"master of orders"', '"publisher-1"'), "the target of a hang is a host"),
        (SMALL.replace('"master of orders"', '"clients"'), "the target of a hang is a host"),
        (FREEZE.replace('"clients"', '"publisher-2"'), "has 1 publishers, and no publisher-2"),
        (SMALL.replace('"rmq1"', '"clients"'), "'clients' is no host"),
        (
            FREEZE.replace("consumers = 1", "consumers = 0").replace(
                'clients = "publishers"', 'clients = "consumers"'
            ),
            "the workload has no consumers",
        ),
    ],
)
def test_clients_and_hosts_are_not_mixed_up(source: str, message: str) -> None:
    (found,) = problems(source)
    assert message in found


def test_every_mistake_is_reported_at_once_with_place_and_choices() -> None:
    found = problems(
        """title = ""
[workload]
queues = ["orders"]
publishers = "2"
consumers = 1
rat = 3
rate = 300
publisher_endpoint = "master of ordres"
retry = "untl_confirmed"
[[fault]]
kind = "kil"
target = "mastr of orders"
lasts = "1.5 t"
""",
    )
    assert [line.partition(":")[0] for line in found] == [
        "mine.toml, line 1, title",
        "mine.toml, line 4, [workload], publishers",
        "mine.toml, line 6, [workload], rat",
        "mine.toml, line 8, [workload], publisher_endpoint",
        "mine.toml, line 9, [workload], retry",
        "mine.toml, line 11, [[fault]] 1, kind",
        "mine.toml, line 12, [[fault]] 1, target",
        "mine.toml, line 13, [[fault]] 1, lasts",
    ]
    assert "did you mean 'rate'?; valid: queues | publishers" in found[2]
    assert "did you mean 'master of orders'?; valid: master of orders" in found[3]
    assert "did you mean 'until_confirmed'?; valid: never | until_confirmed" in found[4]
    assert f"valid: {' | '.join(KINDS)}" in found[5]
    assert "valid: master of QUEUE | mirror of QUEUE | uninvolved" in found[6]
    assert "1.5 T, at least 15 s" in found[7]


def test_a_missing_key_is_placed_at_its_table() -> None:
    found = problems('title = "t"\n[workload]\nqueues = ["a"]\nconsumers = 1\nrate = 1\n')
    assert found == ["mine.toml, line 2, [workload], publishers: is missing"]


def test_malformed_toml_is_reported_with_its_line() -> None:
    (line,) = problems('title = "t"\n[workload\n')
    assert "mine.toml: this is not TOML" in line
    assert "line 2" in line


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "hang"', 'kind = "kill"', "clients: a kill takes no clients; only hang, "),
        ('kind = "hang"', 'kind = "stop"', "clients: a stop takes no clients"),
        ('kind = "hang"', 'kind = "freeze"\nreturns = false', "returns: a freeze always ends"),
        ('lasts = "2 s"', 'lasts = "2 s"\nreturns = false', "returns: a hang always ends"),
        ('lasts = "2 s"', 'lasts = "0 s"', "lasts: a window of no length shows nothing"),
        ("publishers = 1", "publishers = 1\nconfirms = false", "nothing to retry until"),
        ('["orders"]', '["orders", "orders"]', "queues: a queue is named twice"),
        ('"master of orders"', '"master of bills"', "the workload has no queue 'bills'"),
        ('heartbeat = "10 s"', 'heartbeat = "0.5 s"', "must be whole seconds"),
        ('heartbeat = "10 s"', 'heartbeat = "1 T"', "may not be written in layout timers"),
        ('rate = "max"', "rate = 0", "must be publishes a second"),
        ('rate = "max"', "rate = true", "must be publishes a second"),
        ('acknowledge = "none"', "acknowledge = 0", "or 'none'"),
        ("publishers = 1", "publishers = 1\nbody_bytes = 8", "body_bytes"),
        ('kind = "hang"', 'kind = "slow"', "kind: a fault of kind slow needs latency or rate"),
        ('kind = "hang"', 'kind = "slow"\nlatency = "0 s"', "latency: must be from 0.05 to 5 s"),
        ('kind = "hang"', 'kind = "slow"\nrate = 5001', "rate: must be from 1 to 5,000"),
        ('kind = "hang"', 'kind = "slow"\nlatency = "1 T"', "may not be written in layout timers"),
        ('kind = "hang"', 'kind = "cut_after"', "kind: a fault of kind cut_after needs bytes"),
        ('kind = "hang"', 'kind = "cut_after"\nbytes = 20000000', "bytes: must be from 1 to"),
        ('kind = "hang"', 'kind = "hang"\ndirection = "up"', "'up' is not a valid value"),
        (
            'kind = "hang"',
            'kind = "flap"\ndown = "1 s"',
            "kind: a fault of kind flap needs down and up",
        ),
        ('kind = "hang"', 'kind = "flap"\nup = "0.1 s"', "up: must be at least 0.2 s, not"),
        (
            'kind = "hang"',
            'kind = "flap"\ndown = "100 s"\nup = "1 s"',
            "lasts: a flap is seen when it was cut, joined and cut again: its window must last "
            "longer than down and up together (101 s)",
        ),
        (
            'kind = "hang"',
            'kind = "partition"\nshape = "star"',
            "valid: one | halves | one_way_in",
        ),
    ],
)
def test_rules_over_several_keys_are_checked(old: str, new: str, message: str) -> None:
    assert old in SMALL
    assert any(message in line for line in problems(SMALL.replace(old, new)))


KILL = """
[[fault]]
kind = "{kind}"
target = "{target}"
opens = "{opens}"
lasts = "{lasts}"
"""
CALM = SMALL.partition("[[fault]]")[0]


def faults(*rows: tuple[str, str, str, str]) -> str:
    keys = ("kind", "target", "opens", "lasts")
    return CALM + "".join(KILL.format(**dict(zip(keys, row, strict=True))) for row in rows)


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze", "reboot"])
def test_host_held_by_another_fault_cannot_be_brought_back(kind: str) -> None:
    source = faults(("kill", "rmq1", "0 s", "5 s"), (kind, "rmq1", "1 s", "1 s"))
    (found,) = problems(source)
    assert found.startswith("mine.toml, line 23, [[fault]] 2, opens: it opens while fault 1 (kill")


@pytest.mark.parametrize(
    "second",
    [
        ("kill", "rmq1", "5 s", "5 s"),  # the moment when the first one ends
        ("kill", "rmq2", "1 s", "1 s"),
        ("hang", "rmq2", "1 s", "1 s"),
        ("partition", "rmq1", "1 s", "1 s"),  # a chain of its own
        ("kill", "rmq1", "1 T", "1 s"),  # that depends on the layout
    ],
)
def test_faults_that_do_not_undo_each_other_may_stand_together(
    second: tuple[str, str, str, str],
) -> None:
    assert len(read_scenario("two", faults(("kill", "rmq1", "0 s", "5 s"), second)).faults) == 2


def test_late_bound_targets_may_differ_only_at_different_instants() -> None:
    first = ("kill", "master of orders", "0 s", "9 s")
    assert read_scenario("two", faults(first, ("kill", "master of orders", "2 s", "9 s")))
    (found,) = problems(faults(first, ("freeze", "master of orders", "0 s", "1 s")))
    assert "[[fault]] 2, opens: it opens while fault 1" in found


def test_a_host_that_never_returns_stays_unowned_unless_restored() -> None:
    source = faults(("kill", "rmq1", "0 s", "1 s"), ("kill", "rmq1", "9 s", "1 s"))
    never = source.replace('lasts = "1 s"', 'lasts = "1 s"\nreturns = false', 1)
    (found,) = problems(never)
    assert "fault 1 (kill rmq1) never releases this target" in found
    operated = never + '[[operation]]\nkind = "start_node"\ntarget = "rmq1"\nat = "5 s"\n'
    assert read_scenario("mended", operated)


@pytest.mark.parametrize(
    ("kind", "target", "other", "clash"),
    [
        ("refuse", "rmq1", 'clients = "publishers"', True),
        ("close", "rmq1", 'clients = "consumers"', False),
        ("alarm", "rmq1", 'resource = "memory"', True),
        ("alarm", "rmq1", 'resource = "disk"', False),
        ("client_freeze", "clients", 'clients = "publishers"', True),
        ("client_freeze", "clients", 'clients = "consumers"', False),
    ],
)
def test_so_are_links_alarms_and_clients(kind: str, target: str, other: str, clash: bool) -> None:
    first = (kind, target, "0 s", "5 s")
    source = faults(first) + ("" if kind == "alarm" else 'clients = "publishers"\n')
    source += KILL.format(kind=kind, target=target, opens="1 s", lasts="1 s") + other
    if clash:
        assert "would undo the other" in problems(source)[0]
    else:
        assert len(read_scenario("two", source).faults) == 2


def test_flap_with_two_cuts_in_its_window_is_accepted() -> None:
    flap = 'kind = "flap"\ndown = "0.9 s"\nup = "1 s"'
    source = SMALL.replace('kind = "hang"', flap).replace('clients = "publishers"\n', "")
    assert read_scenario("flap", source).faults[0].options.rhythm == (0.9, 1.0)


def test_scenario_name_must_suit_brokers_and_folders() -> None:
    (line,) = problems(SMALL, name="My_Scenario")
    assert "small letters, digits and hyphens" in line


def test_a_number_of_5000_digits_is_reported_and_not_read() -> None:
    found = problems(SMALL.replace("publishers = 1", f"publishers = {'9' * 5000}"))
    assert found == ["mine.toml: a number in it has more digits than can be read"]


def test_a_document_that_is_nested_10000_deep_is_reported() -> None:
    assert problems(f"title = {'[' * 10_000}") == ["mine.toml: it is nested too deeply"]


def test_name_with_very_many_parts_is_refused_quickly() -> None:
    (found,) = problems(f"title = 'x'\n{'a.' * 100_000}a = 1")
    assert found == "mine.toml, line 2: has more than 100 dots"
    assert read_scenario("mine", SMALL + f"[phases]\n# {'.' * 200}\n")
    assert read_scenario("mine", SMALL.replace('"small"', f'"{"." * 150}"'))


def test_a_key_outside_its_table_is_shown_its_place() -> None:
    keys = "title | story | workload | fault | operation | phases"
    found = problems(
        SMALL.replace("[workload]", 'baseline = "10 s"\npublishers = 5\n[workload]', 1)
    )
    assert [text.partition(": there is")[2] for text in found] == [
        f" no such key; valid: {keys}; what to do: write it below [phases]",
        f" no such key; valid: {keys}; what to do: write it below [workload]",
    ]


def test_ten_thousand_mistakes_are_fifty_and_a_count() -> None:
    source = SMALL.replace("[workload.amqp]", "\n".join(f"k{n} = 1" for n in range(10_000)))
    found = problems(source)
    assert len(found) == LISTED_MAX + 1
    assert found[-1] == f"mine.toml: and {FOUND_MAX - LISTED_MAX} more at least"
    with pytest.raises(PlanError, match=r"\nand 450 more at least$"):
        read_scenario("mine", source)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"small"', f'"{"x" * 1_000_000}"', "title: must have at most 200 characters"),
        (
            '"hang"',
            f'"{"x" * 1_000_000}"',
            f"'{'x' * 40}'... (1,000,000 characters) is not a valid",
        ),
        ("lasts = ", "target2 = 1\nlasts = ", "there is no such key"),
        ('"2 s"', f'"{"9" * 5000} s"', "is not a length of time"),
        ('"2 s"', '"99999999999 s"', "'99999999999 s' is longer than 31 days"),
        ('"1 T"', '"2000 T"', "'2000 T' is more than 1000 T"),
        ('"10 s"', f'"{"9" * 400} s"', "is not a length of time"),
        ("master of orders", f"publisher-{'9' * 5000}", "is no target"),
        ("master of orders", f"master of {'q' * 5000}", "is no target"),
        ('["orders"]', str([f"q{n}" for n in range(500)]), "must have 256 entries"),
        ('["rmq2", "rmq3"]', str(["a"] * 500), "must have 64 hosts at most, not 500"),
        ("title", '"a\\nb\\u202e" = 1\ntitle', r"a\nb\u202e: there is no such key"),
    ],
)
def test_overlong_values_are_reported_briefly(old: str, new: str, message: str) -> None:
    found = problems(SMALL.replace(old, new, 1))
    assert any(message in one for one in found), found
    assert all(len(one) < 2500 and "\n" not in one for one in found)


@pytest.mark.parametrize("pattern", ["a{99999999999}", "(" * 5000 + ")" * 5000, "x" * 2000])
def test_a_pattern_that_python_cannot_hold_is_none(pattern: str) -> None:
    table = f'[[operation]]\nkind = "set_policy"\npattern = "{pattern}"\n'
    found = problems(SMALL + table + 'definition = {"ha-mode" = "all"}\n')
    assert any("pattern" in one for one in found), found


def test_ten_thousand_faults_are_answered_with_their_number_alone() -> None:
    fault = '[[fault]]\nkind = "kill"\ntarget = "rmq1"\nlasts = "1 s"\n'
    assert problems(SMALL + fault * 10_000) == [
        "mine.toml, line 13, fault: must have 200 entries at most, not 10001"
    ]
    clashing = problems(SMALL + fault * 199)  # two of them may not be active together
    assert clashing[0].startswith("mine.toml, line 23, [[fault]] 3, opens: it opens while fault 2")
    assert clashing[-1].endswith("more at least")


def test_unusable_fault_kind_of_a_package_is_reported_with_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    why = "the fault forget of acme 1.2 cannot be used: there is another action Kill"
    monkeypatch.setattr(fault_table, "REGISTRY", FaultRegistry(KINDS, {}, {"forget": why}))
    fault = '[[fault]]\nkind = "forget"\ntarget = "rmq1"\nlasts = "5 s"\n'
    (found,) = problems(SMALL + fault)
    assert found == f"mine.toml, line 20, [[fault]] 2, kind: {why}"


def test_a_byte_order_mark_before_a_text_is_passed_over() -> None:
    assert document_of("\ufefftitle = 1", "x.toml") == {"title": 1}


def test_one_table_in_place_of_a_list_has_a_remedy() -> None:
    once = SMALL.replace("[[fault]]", "[fault]")
    twice = once + '[fault]\nkind = "kill"\n'
    mixed = once + '[[fault]]\nkind = "kill"\n'
    (one,) = problems(once)
    assert "line 13, fault: is one table" in one
    for text in (twice, mixed):
        (problem,) = problems(text)
        assert "mine.toml, line 19: this is not TOML: [fault] is there twice" in problem
        assert problem.endswith("what to do: write [[fault]], with two brackets, each time")
    (problem,) = problems(SMALL + "[workload]\nkeys = 1\n")
    assert problem.endswith("what to do: put all its keys under one [workload]")


def test_a_misspelt_table_is_not_missing_too() -> None:
    (problem,) = problems(
        SMALL.replace("[workload]", "[worklaod]").replace("[workload.", "[worklaod.")
    )
    assert "worklaod: there is no such key; did you mean 'workload'?" in problem
    (problem,) = problems(SMALL.replace("publishers = 1", "publishrs = 1"))
    assert "did you mean 'publishers'?" in problem


@pytest.mark.parametrize(
    ("old", "new", "guess"),
    [
        ("master of orders", "miror of orders", "mirror of orders"),
        ("master of orders", "leder of orders", "leader of orders"),
        ("master of orders", "name_servr_of publisher-1", "name_server_of publisher-1"),
        ("rmq1", "uninvolvd", "uninvolved"),
    ],
)
def test_a_misspelt_target_has_a_guess_and_a_line(old: str, new: str, guess: str) -> None:
    (problem,) = problems(SMALL.replace(f'"{old}"', f'"{new}"'))
    assert f"did you mean {guess!r}?" in problem
    assert "mine.toml, line " in problem
