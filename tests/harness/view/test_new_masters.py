"""The stages that reports show: no route of a client's fault, and the new master where known."""

from harness.view import routes
from harness.view.new_masters import NEW_MASTER, with_new_masters
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.views import STAGES
from tests.oracle.judge import judge
from tests.oracle.views import views
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.watching import ALL, MASTER, OTHER, SLAVE, looks
from tests.rigs.runs.judged_runs import manifest_of

NEW = "broker-a master at rkt3:10931"


def stages(history: History) -> dict[tuple[int, str], Stage]:
    facts, rows = history.build()
    found = with_new_masters(judge(facts, rows), facts, views(facts, rows))
    return {(row.window, row.stage): row for row in found.stages}


def switched(history: History) -> History:
    """The slave becomes the master: ns1 shows it first, ns2 later."""
    for name_server, until_ms in (("ns1", 14_000), ("ns2", 17_200)):
        looks(history, name_server, range(9_200, until_ms, 400), *ALL)
        looks(history, name_server, range(until_ms, 25_200, 400), NEW, OTHER)
    return history


def test_a_new_master_is_shown_when_the_first_name_server_has_it() -> None:
    row = stages(switched(History().window(10_000, returned_ms=10_100)))[1, NEW_MASTER]
    # Between the look at 13.6 s and the end of the one at 14 s.
    assert (row.reached, row.after_ns, row.uncertainty_ns) == (
        *(True, ns(4_005)),
        ns(4_005) - ns(13_600 - 10_100),
    )


def test_a_master_that_returns_at_its_address_is_not_new() -> None:
    history = History().window(10_000, returned_ms=10_100)
    looks(history, "ns1", range(9_200, 14_000, 400), *ALL)
    looks(history, "ns1", range(14_000, 18_000, 400), SLAVE, OTHER)
    looks(history, "ns1", range(18_000, 22_000, 400), *ALL)
    assert (1, NEW_MASTER) not in stages(history)


def test_a_master_of_an_unknown_group_is_not_new() -> None:
    history = History().window(10_000, returned_ms=10_100)
    looks(history, "ns1", range(9_200, 14_000, 400), OTHER)
    looks(history, "ns1", range(14_000, 18_000, 400), MASTER, OTHER)
    assert (1, NEW_MASTER) not in stages(history)


def test_a_switch_belongs_to_the_fault_in_whose_time_it_is_shown() -> None:
    history = switched(History().window(10_000, returned_ms=10_100).window(14_800))
    assert {name for name in stages(history) if name[1] == NEW_MASTER} == {(1, NEW_MASTER)}
    late = switched(History().window(10_000, returned_ms=10_100).window(12_000))
    assert {name for name in stages(late) if name[1] == NEW_MASTER} == {(2, NEW_MASTER)}


def test_a_fault_of_clients_has_no_stage_of_routes() -> None:
    for kind in ("client_freeze", "hang"):
        found = stages(switched(History().window(10_000, kind=kind)))
        assert not {(1, name) for name in (*STAGES, NEW_MASTER)} & found.keys()
        assert (1, "first_success") in found
    assert {(1, name) for name in STAGES} <= stages(switched(History().window(10_000))).keys()


def test_sentences_say_when_the_new_master_was_shown() -> None:
    facts, rows = switched(History().window(10_000, returned_ms=10_100)).build()
    shown = views(facts, rows)
    findings = with_new_masters(judge(facts, rows), facts, shown)
    lines = [one.text for one in routes.observe(manifest_of(facts), findings, shown, judged=True)]
    assert (
        "fault 1: route changed (first name server) after 3.500 to 4.005 s, "
        "route changed (every name server) after 6.700 to 7.205 s, "
        "new master shown after 3.500 to 4.005 s"
    ) in lines
