"""Two faults on one host: what planning refuses, and what a target may say of another fault."""

from collections.abc import Collection

import pytest

from faults.core.kind import Sight
from faults.kinds import KINDS
from faults.kinds.client_links.hang import HangOptions
from faults.kinds.client_links.slow import SlowOptions
from harness.plan.checks.overlaps import Pauses, active_fault, problems
from harness.plan.clients.requirements import chosen_client
from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.references import anchor
from harness.plan.files.targets import parse_target
from harness.plan.files.toml import read_scenario
from harness.plan.problems import PlanError
from harness.plan.schedule import resolve
from harness.systems import catalogue
from tests.rigs.runs.fault_pairs import OTHER, SAME, Pair, pairs, planned

MASTER, THERE, ELSEWHERE = "master of orders", "host of fault 1", "other than fault 1"


def refused(
    one: tuple[str, str, float],
    other: tuple[str, str, float],
    pauses: Pauses | None = None,
    toxiproxied: Collection[Sight] = (),
) -> str:
    """Why the second of two faults is refused. Each: kind, target, opening; both last 20 s."""
    faults = {
        number: active_fault(
            KINDS[kind], parse_target(target), KINDS[kind].options(), opens_s, opens_s + 20
        )
        for number, (kind, target, opens_s) in enumerate((one, other), start=1)
    }
    return "; ".join(text for _, text in problems(faults, pauses, toxiproxied))


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("freeze", "hang", "hides the links of clients to its host, by which a hang is verified"),
        ("kill", "close", "by which a close is verified"),
        ("black_hole", "partition", "hides the ways between its host and the others"),
        ("cut_after", "slow", "by which a slow is verified"),
        ("slow", "slow", "cannot be distinguished from fault 1"),
        ("freeze", "kill", "the end of one would undo the other"),
        ("slow_peers", "flap", "delays the links"),
        ("black_hole", "alarm", "hides the answers of its broker, by which an alarm is verified"),
        ("freeze", "alarm", "hides the answers of its broker"),
        ("kill", "alarm", "the end of one would undo the other"),
    ],
)
def test_a_fault_that_no_run_could_verify_is_refused(one: str, other: str, why: str) -> None:
    assert why in refused((one, MASTER, 0), (other, THERE, 8))
    assert not refused((one, MASTER, 0), (other, ELSEWHERE, 8))


def test_evidence_of_a_verified_earlier_fault_may_become_hidden() -> None:
    assert "let it open at least 5 s later" in refused(("hang", MASTER, 0), ("freeze", THERE, 4))
    assert not refused(("hang", MASTER, 0), ("freeze", THERE, 5))


@pytest.mark.parametrize("kind", ["hang", "slow", "cut_after"])
@pytest.mark.parametrize("place", [THERE, ELSEWHERE, "uninvolved"])
def test_an_alarm_blocks_the_words_that_verify_a_later_fault(kind: str, place: str) -> None:
    assert "blocks publishers, by whose words" in refused(("alarm", MASTER, 0), (kind, place, 18))
    assert not refused(("alarm", MASTER, 0), (kind, place, 19))
    assert not refused(("alarm", MASTER, 0), ("close", place, 8))


def test_a_frozen_broker_takes_no_command_that_ends_its_alarm() -> None:
    assert "takes no command" in refused(("alarm", MASTER, 0), ("freeze", THERE, 8))
    assert not refused(("alarm", MASTER, 0), ("freeze", ELSEWHERE, 8))


@pytest.mark.parametrize("kind", ["kill", "stop", "reboot"])
def test_a_broker_that_ends_in_an_alarm_starts_again_without_it(kind: str) -> None:
    assert "would undo the other" in refused(("alarm", MASTER, 0), (kind, THERE, 8))
    assert not refused(("alarm", MASTER, 0), (kind, ELSEWHERE, 8))


def test_a_host_that_pauses_closes_the_links_of_clients() -> None:
    one, other = ("partition", MASTER, 0.0), ("hang", THERE, 6.0)
    assert not refused(one, other)
    assert "makes its host pause" in refused(one, other, Pauses(detection_timeout_s=10))
    assert not refused(one, other, Pauses(detection_timeout_s=60))


def test_a_host_that_pauses_takes_no_command_that_ends_an_alarm() -> None:
    one, other = ("partition", MASTER, 0.0), ("alarm", THERE, 6.0)
    assert not refused(one, other)
    assert "takes no command" in refused(one, other, Pauses(detection_timeout_s=10))
    assert not refused(one, other, Pauses(detection_timeout_s=60))
    assert not refused(one, ("alarm", ELSEWHERE, 6.0), Pauses(detection_timeout_s=10))
    assert not refused(("alarm", MASTER, 0.0), ("partition", THERE, 6.0), Pauses(10))


def test_a_blocked_publishers_death_is_noticed_after_the_alarm() -> None:
    alarm, crash = ("alarm", MASTER, 8.0), "client_crash"
    assert not refused(("alarm", MASTER, 0.0), (crash, "publisher-1", 8.0))
    assert "do not notice that one died" in refused(alarm, (crash, "publisher-1", 8.0))
    assert not refused(alarm, (crash, "consumer-1", 8.0))


@pytest.mark.parametrize(
    ("one", "other", "links"),
    [("slow", "hang", Sight.CLIENT_LINKS), ("slow_peers", "partition", Sight.PEER_LINKS)],
)
def test_toxiproxy_ends_no_toxic_that_another_one_holds(
    one: str, other: str, links: Sight
) -> None:
    faults = (one, MASTER, 0.0), (other, THERE, 8.0)
    assert "Toxiproxy cannot end it then" in refused(*faults, toxiproxied=[links])
    assert not refused(*faults)
    assert not refused((one, MASTER, 0.0), (other, ELSEWHERE, 8.0), toxiproxied=[links])


def test_toxiproxy_ends_a_toxic_once_the_other_released_it() -> None:
    for lasts_s, refuses in ((11.9, False), (12.0, True)):
        faults = {
            1: active_fault(KINDS["slow"], parse_target(MASTER), SlowOptions(), 0, 20),
            2: active_fault(KINDS["hang"], parse_target(THERE), HangOptions(), 8, 8 + lasts_s),
        }
        assert bool(list(problems(faults, toxiproxied=[Sight.CLIENT_LINKS]))) is refuses


def test_late_bound_target_is_compared_across_time_only_by_reference() -> None:
    assert not refused(("freeze", MASTER, 0), ("kill", MASTER, 8))
    assert refused(("freeze", MASTER, 0), ("kill", MASTER, 0))
    assert refused(("freeze", MASTER, 0), ("kill", THERE, 8))


def test_references_end_at_the_fault_that_names_a_host_itself() -> None:
    words = {1: MASTER, 2: THERE, 3: "host of fault 2", 4: ELSEWHERE}
    targets = {number: parse_target(word) for number, word in words.items()}
    assert [anchor(number, targets) for number in targets] == [1, 1, 1, 4]
    assert parse_target("other than fault 12").fault == 12


@pytest.mark.parametrize("word", ["host of fault 0", "host of fault", "other than fault x"])
def test_a_reference_to_no_fault_is_no_target(word: str) -> None:
    with pytest.raises(ValueError, match="is no target"):
        parse_target(word)


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("host of fault 2", "must name an earlier fault of the file"),
        ("other than fault 9", "must name an earlier fault of the file"),
    ],
)
def test_a_reference_that_leads_nowhere_is_bad_input(target: str, why: str) -> None:
    source = Pair("kill", "partition", "nested", OTHER).source.replace(ELSEWHERE, target)
    with pytest.raises(PlanError, match=why):
        read_scenario("pair", source)


def test_a_reference_to_a_fault_that_opens_later_is_refused() -> None:
    source = Pair("kill", "partition", "nested", OTHER).source.replace('"0 s"', '"1 T"')
    scenario = read_scenario("pair", source)
    layout = catalogue.load_layout("reference-mirrored", "all-automatic@T=10")
    everything = Catalogue((catalogue.load_system("reference-mirrored"),), (layout,))
    request = ExperimentOptions("pair", 7, (scenario,), deployment="local")
    with pytest.raises(PlanError, match="fault 1 opens later"):
        plan(request, everything)


def test_window_knows_the_window_its_fault_refers_to() -> None:
    run = planned(Pair("kill", "partition", "nested", OTHER))
    assert not isinstance(run, str)
    assert [window.refers_to for window in run.schedule.windows] == [0, 1]


def test_every_pair_of_kinds_is_planned_or_refused_with_reason() -> None:
    found = {pair: planned(pair) for pair in pairs()}
    assert all(run if isinstance(run, str) else run.schedule for run in found.values())
    same = {(p.first, p.second) for p, run in found.items() if p.place == SAME and run == ""}
    assert not same
    elsewhere = [run for pair, run in found.items() if pair.place == OTHER]
    assert not [run for run in elsewhere if isinstance(run, str)]


def test_an_operation_may_name_the_host_of_a_fault() -> None:
    source = Pair("kill", "partition", "nested", OTHER).source
    restart = '[[operation]]\nkind = "restart_node"\ntarget = "other than fault {}"\nat = "8 s"\n'
    scenario = read_scenario("pair", source + restart.format(2))
    layout = catalogue.load_layout("reference-mirrored", "all-automatic@T=10")
    system = catalogue.load_system("reference-mirrored")
    schedule = resolve(scenario, layout, system.guarantees(layout), chosen_client("pika"))
    assert [step.refers_to for step in schedule.steps] == [2]
    with pytest.raises(PlanError, match="there is no fault 3"):
        read_scenario("pair", source + restart.format(3))
