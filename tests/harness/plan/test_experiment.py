"""Experiments: which runs there are, how they are named, and what does not apply."""

import re
from dataclasses import replace

import pytest

from harness.plan.clients import registry, requirements
from harness.plan.clients.declaration import Client
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.toml import read_scenario
from harness.plan.model import Experiment, Layout, Scenario
from harness.plan.problems import PlanError
from tests.rigs.runs.plans import LAYOUT, SYSTEM

SOURCE = """
title = "t"
[workload]
queues = ["orders"]
publishers = 1
consumers = 1
rate = 100
[[fault]]
kind = "kill"
target = "master of orders"
lasts = "5 s"
"""
SLOW = replace(LAYOUT, profile="T=60", detection_timeout_s=60)
SINGLE = replace(LAYOUT, name="unmirrored", copies=1)
OTHER = replace(
    SYSTEM, name="other", clients=("rocketmq-native", "pika"), default_layout="pair@T=10"
)
PAIR = Layout(
    name="pair",
    profile="T=10",
    system="other",
    title="",
    hosts=LAYOUT.hosts[:2],
    detection_timeout_s=10,
    copies=2,
    synchronise="none",
    partition_handling="ignore",
    policies=(),
)
CATALOGUE = Catalogue((SYSTEM, OTHER), (LAYOUT, SLOW, SINGLE, PAIR))


def scenario(name: str = "crash", **changes: str) -> Scenario:
    text = SOURCE
    for old, new in changes.items():
        text = re.sub(rf"(?m)^{old} = .*$", f"{old} = {new}", text)
    return read_scenario(name, text)


MIRROR = scenario("mirror-crash", target='"mirror of orders"')


def request(*scenarios: Scenario, **changes: object) -> ExperimentOptions:
    parts: dict[str, object] = {"name": "e", "seed": 7, "scenarios": scenarios or (scenario(),)}
    return ExperimentOptions(**(parts | changes))  # type: ignore[arg-type]


def cells(experiment: Experiment) -> list[tuple[str, str, str, str]]:
    return [run.cell for run in experiment.runs]


def test_default_is_one_run_on_the_first_systems_default_layout() -> None:
    experiment = plan(request(), CATALOGUE)
    assert cells(experiment) == [("crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")]
    assert experiment.runs[0].schedule.windows[0].lasts_s == 5
    assert experiment.runs[0].deployment == "compose"


def test_runs_on_one_cluster_are_adjacent_and_repeats_rotate() -> None:
    both = (scenario("a"), scenario("b"))
    experiment = plan(request(*both, layouts=("all-automatic@*",), repeats=2), CATALOGUE)
    assert [(run.layout.profile, run.repeat, run.scenario.name) for run in experiment.runs] == [
        (profile, repeat, name)
        for profile in ("T=10", "T=60")
        for repeat in (1, 2)
        for name in ("a", "b")
    ]


def test_names_are_short_unique_and_safe_everywhere() -> None:
    experiment = plan(request(scenario("a"), scenario("b"), repeats=500), CATALOGUE)
    names = [run.name for run in experiment.runs]
    assert len(set(names)) == 1000
    assert all(re.fullmatch(r"[a-z0-9-]{1,63}", name) for name in names)
    assert re.fullmatch(r"a-1-[0-9a-f]{4}", names[0])
    numbers = {run.number for run in experiment.runs}
    assert len(numbers) == 1000
    assert all(0 <= number < 2**64 for number in numbers)


def test_the_same_request_makes_the_same_experiment() -> None:
    assert plan(request(repeats=3), CATALOGUE) == plan(request(repeats=3), CATALOGUE)


def test_second_experiment_repeats_the_seeds_choices_under_another_name() -> None:
    one, two = plan(request(), CATALOGUE).runs[0], plan(request(name="f"), CATALOGUE).runs[0]
    assert one.seed == two.seed, "replaying makes the same choices"
    assert one.name != two.name, "what the first left behind is not the second's"
    assert one.number != two.number


def test_one_more_layout_moves_no_other_runs_choices() -> None:
    alone = plan(request(layouts=("unmirrored",)), CATALOGUE).runs[0]
    among = plan(request(layouts=("all-automatic", "unmirrored")), CATALOGUE).runs[1]
    assert alone.cell == among.cell
    assert alone.seed == among.seed


def test_an_empty_target_skips_its_cell_among_several() -> None:
    experiment = plan(request(MIRROR, layouts=("all-automatic", "unmirrored")), CATALOGUE)
    assert len(experiment.runs) == 1
    (skipped,) = experiment.skipped
    assert skipped.cell == ("mirror-crash", "rabbitmq-mirrored", "unmirrored@T=10", "pika")
    assert "'mirror of orders' matches no host" in skipped.reason


def test_an_empty_target_is_an_error_in_the_only_cell() -> None:
    with pytest.raises(PlanError) as caught:
        plan(request(MIRROR, layouts=("unmirrored",)), CATALOGUE)
    (problem,) = caught.value.problems
    assert "matches no host" in problem.text
    assert problem.choices == ("all-automatic@T=10", "all-automatic@T=60")


def test_an_experiment_without_applicable_cells_names_each_cell() -> None:
    on_rmq9 = scenario(target='"elsewhere"')
    with pytest.raises(PlanError) as caught:
        plan(request(on_rmq9, layouts=("all-*",)), CATALOGUE)
    assert [problem.text for problem in caught.value.problems] == [
        "not applicable: fault 1: no host 'elsewhere' (there are rmq1, rmq2, rmq3)"
    ] * 2


def test_a_misspelt_host_is_bad_input_with_its_line() -> None:
    with pytest.raises(PlanError) as caught:
        plan(request(scenario(target='"rm2"'), layouts=("all-*",)), CATALOGUE)
    (problem,) = caught.value.problems
    assert str(problem).endswith(
        "target: no layout has a host 'rm2'; did you mean 'rmq2'?; valid: rmq1 | rmq2 | rmq3"
    )
    assert "line " in problem.place


def test_an_endpoint_without_a_host_counts_too() -> None:
    text = SOURCE.replace("rate = 100", 'rate = 100\nconsumer_endpoint = "mirror of orders"')
    experiment = plan(
        request(read_scenario("s", text), layouts=("all-automatic", "unmirrored")), CATALOGUE
    )
    assert experiment.skipped[0].reason.startswith("consumer_endpoint: target 'mirror of orders'")


def test_uninvolved_is_empty_if_faults_may_hit_every_host() -> None:
    text = SOURCE + '[[fault]]\nkind = "kill"\ntarget = "mirror of orders"\nlasts = "5 s"\n'
    both = request(
        read_scenario("s", text), systems=("rabbitmq-mirrored", "other"), clients=("pika",)
    )
    experiment = plan(both, CATALOGUE)
    assert [skip.cell[1] for skip in experiment.skipped] == ["other"]
    assert "may mean every one of 2 hosts" in experiment.skipped[0].reason


def test_no_host_is_uninvolved_if_all_hosts_hold_copies() -> None:
    aimed = scenario(target='"uninvolved"')
    experiment = plan(request(aimed, layouts=("all-automatic", "unmirrored")), CATALOGUE)
    assert [run.layout.name for run in experiment.runs] == ["unmirrored"]
    assert "every host holds a copy" in experiment.skipped[0].reason


def test_a_client_that_only_one_system_has_skips_the_other() -> None:
    experiment = plan(
        request(systems=("rabbitmq-mirrored", "other"), clients=("rocketmq-native",)), CATALOGUE
    )
    assert [run.system.name for run in experiment.runs] == ["other"]
    assert experiment.skipped[0].reason == "rabbitmq-mirrored has no client rocketmq-native"


def test_every_word_that_names_nothing_is_reported_at_once() -> None:
    wrong = request(
        systems=("rabitmq-mirrored",),
        layouts=("all-automatc",),
        clients=("pikka",),
        deployment="compse",
        repeats=0,
    )
    with pytest.raises(PlanError) as caught:
        plan(wrong, CATALOGUE)
    found = caught.value.problems
    assert [one.place for one in found] == [
        "--system",
        "--layout",
        "--client",
        "--deployment",
        "--repeats",
    ]
    assert found[0].guess == "rabbitmq-mirrored"
    assert found[2].guess == "pika"
    assert "unmirrored@T=10" in found[1].choices


def test_a_requested_system_without_the_layouts_is_reported() -> None:
    both = (SYSTEM.name, OTHER.name)
    with pytest.raises(PlanError) as caught:
        plan(request(systems=both, layouts=("all-automatic",)), CATALOGUE)
    (problem,) = caught.value.problems
    assert problem.place == "--layout"
    assert "none of those named is a layout of other" in str(problem)
    assert problem.choices == ("pair@T=10",)
    wanted = request(systems=both, layouts=("all-automatic", "pair"), clients=("pika",))
    assert len(plan(wanted, CATALOGUE).runs) == 2


def test_impossible_fault_does_not_apply_to_a_system_with_reason() -> None:
    spared = replace(OTHER, cannot={"kill": "it cannot die"})
    catalogue = replace(CATALOGUE, systems=(SYSTEM, spared))
    both = (SYSTEM.name, spared.name)
    (skip,) = plan(request(systems=both, clients=("pika",)), catalogue).skipped
    assert skip.cell[1] == "other"
    assert skip.reason == "fault 1: other can suffer no kill: it cannot die"


def test_layout_with_unsupported_partition_handling_does_not_apply() -> None:
    plain = replace(OTHER, cannot_handle={"ignore": "it always heals"})
    catalogue = replace(CATALOGUE, systems=(SYSTEM, plain))
    both = (SYSTEM.name, plain.name)
    (skip,) = plan(request(systems=both, clients=("pika",)), catalogue).skipped
    assert skip.reason == "other cannot do ignore: it always heals"
    with pytest.raises(PlanError, match="other cannot do ignore: it always heals"):
        plan(request(systems=("other",), clients=("pika",)), catalogue)


def test_fault_impossible_in_one_deployment_does_not_apply_only_there() -> None:
    apart = replace(SYSTEM, cannot_by={"compose": {"kill": "no process dies there"}})
    with pytest.raises(PlanError) as error:
        plan(request(), replace(CATALOGUE, systems=(apart,)))
    assert "fault 1: by compose, " in str(error.value)
    assert "can suffer no kill: no process dies there" in str(error.value)
    elsewhere = replace(apart, cannot_by={"local": {"kill": "no process dies there"}})
    assert plan(request(), replace(CATALOGUE, systems=(elsewhere,))).skipped == ()


def slow_peers() -> Scenario:
    text = SOURCE.replace('kind = "kill"', 'kind = "slow_peers"\nlatency = "200 ms"')
    return read_scenario("slow-peers", text)


def test_peers_are_slow_only_where_their_links_pass_a_proxy() -> None:
    proxied = replace(LAYOUT, name="proxied", peer_links="toxiproxy")
    catalogue = replace(CATALOGUE, layouts=(*CATALOGUE.layouts, proxied))
    wanted = request(slow_peers(), layouts=("all-automatic", "proxied"))
    experiment = plan(wanted, catalogue)
    assert [run.layout.name for run in experiment.runs] == ["proxied"]
    (skip,) = experiment.skipped
    assert skip.reason == (
        "fault 1: compose offers no slow_peers: direct links between peers pass no proxy"
    )


def test_system_without_proxied_peers_says_so() -> None:
    direct = replace(SYSTEM, direct_peers={"compose": "it is not implemented"})
    proxied = replace(LAYOUT, peer_links="toxiproxy")
    catalogue = replace(CATALOGUE, systems=(direct,), layouts=(proxied,))
    with pytest.raises(PlanError, match="direct peer links by compose: it is not implemented"):
        plan(request(), catalogue)


BALANCED = replace(LAYOUT, name="balanced", client_endpoint="haproxy-pair")


def balanced(kind: str, target: str, deployment: str = "") -> Experiment:
    text = SOURCE.replace("kill", kind).replace("master of orders", target)
    catalogue = replace(CATALOGUE, layouts=(*CATALOGUE.layouts, BALANCED))
    wanted = request(read_scenario("b", text), layouts=("balanced",), deployment=deployment)
    return plan(wanted, catalogue)


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze"])
@pytest.mark.parametrize(
    "target",
    ["balancer1", "balancer2", "active balancer", "standby balancer", "master of orders"],
)
def test_a_balancer_is_a_host_whose_processes_may_fail(kind: str, target: str) -> None:
    assert len(balanced(kind, target).runs) == 1


@pytest.mark.parametrize(
    ("kind", "target", "message"),
    [
        ("partition", "balancer1", "balancer1 can suffer no partition, only kill, stop, freeze"),
        ("hang", "active balancer", "active balancer can suffer no hang, only kill, stop, freeze"),
        ("kill", "balancer3", "no layout has a host 'balancer3'; did you mean 'balancer2'"),
        ("hang", "master of orders", "a hang means clients' links to a host, and theirs lead to"),
    ],
)
def test_faults_meaningless_behind_a_balancer_are_reported(
    kind: str, target: str, message: str
) -> None:
    with pytest.raises(PlanError, match=message):
        balanced(kind, target)


def test_only_containers_have_balancers() -> None:
    local = replace(SYSTEM, deployments=("local",))
    catalogue = replace(CATALOGUE, systems=(local,), layouts=(BALANCED,))
    wanted = request(layouts=("balanced",))
    with pytest.raises(
        PlanError, match="clients connect through haproxy-pair, which only compose has"
    ):
        plan(wanted, catalogue)


def test_without_a_balancer_no_host_has_its_name() -> None:
    with pytest.raises(PlanError, match="no host 'balancer1'"):
        plan(request(scenario(target='"balancer1"')), CATALOGUE)


def test_balancer_target_names_the_endpoints_that_have_one() -> None:
    for target, ways in (
        ("active balancer", "haproxy or haproxy-pair"),
        ("standby balancer", "haproxy-pair"),
    ):
        none = f"'{target}' matches no balancer: .* these balancers: none; .*"
        message = f"{none} client_endpoint = {ways}$"
        with pytest.raises(PlanError, match=message):
            plan(request(scenario(target=f'"{target}"')), CATALOGUE)


def test_a_single_balancer_has_none_that_stands_by() -> None:
    single = replace(LAYOUT, name="single", client_endpoint="haproxy")
    catalogue = replace(CATALOGUE, layouts=(single,))
    with pytest.raises(PlanError, match="these balancers: balancer1; choose a layout"):
        plan(request(scenario(target='"standby balancer"'), layouts=("single",)), catalogue)


def test_a_balancer_that_is_killed_leaves_every_host_uninvolved() -> None:
    alone = replace(
        LAYOUT, name="alone", hosts=LAYOUT.hosts[:1], copies=1, client_endpoint="haproxy"
    )
    catalogue = replace(CATALOGUE, layouts=(alone,))
    text = SOURCE.replace("master of orders", "active balancer")
    wanted = request(read_scenario("b", text + ""), layouts=("alone",))
    assert len(plan(wanted, catalogue).runs) == 1


def test_shape_does_not_apply_with_too_few_hosts() -> None:
    text = SOURCE.replace('kind = "kill"', 'kind = "partition"\nshape = "bridge"')
    shaped, both = read_scenario("bridge", text), (SYSTEM.name, OTHER.name)
    (skip,) = plan(request(shaped, systems=both, clients=("pika",)), CATALOGUE).skipped
    assert skip.cell[1] == "other"
    assert skip.reason == "fault 1: the shape bridge needs 3 hosts, and there are 2"


def test_windows_in_layout_timers_contradict_only_on_some_layouts() -> None:
    text = SOURCE.replace("master of orders", "rmq1")
    later = '[[fault]]\nkind = "freeze"\ntarget = "rmq1"\nopens = "30 s"\nlasts = "1 s"\n'
    crossed = read_scenario("crossed", text.replace('"5 s"', '"1 T"') + later)
    experiment = plan(request(crossed, layouts=("all-automatic@*",)), CATALOGUE)
    assert cells(experiment) == [("crossed", "rabbitmq-mirrored", "all-automatic@T=10", "pika")]
    (skip,) = experiment.skipped
    assert skip.cell[2] == "all-automatic@T=60"
    assert skip.reason.startswith("fault 2: it opens while fault 1 (kill rmq1) is active")
    assert skip.reason.endswith("where T = 60 s")


def test_flap_does_not_apply_if_shorter_than_the_layout_timer() -> None:
    flap = SOURCE.replace('"kill"', '"flap"\ndown = "8 s"\nup = "4 s"').replace('"5 s"', '"1 T"')
    experiment = plan(
        request(read_scenario("flap", flap), layouts=("all-automatic@*",)), CATALOGUE
    )
    assert [run.layout.label for run in experiment.runs] == ["all-automatic@T=60"]
    (skip,) = experiment.skipped
    assert skip.reason.startswith("fault 1: a flap is seen when it was cut, joined and cut again")
    assert skip.reason.endswith("(12 s), where T = 10 s")


def test_planning_looks_a_client_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    def named(client: str) -> Client:
        looked_up.append(client)
        return registry.named(client)

    monkeypatch.setattr(requirements, "named", named)
    labels = (LAYOUT.label, SLOW.label)
    made = plan(request(scenario(), scenario("again"), layouts=labels), CATALOGUE)
    assert (len(made.runs), looked_up) == (4, [SYSTEM.clients[0]])
