"""What name servers showed and whom clients asked, in sentences and rows: bounds and unknowns."""

import re
from dataclasses import replace

from harness.run_folder.manifest import WorkerRecord
from harness.run_folder.rows import ClientEvent
from harness.view import routes
from harness.view.routes import ROWS_MAX, Routes, Stretch
from harness.view.voter_hosts import events_with_hosts
from tests.oracle.judge import judge
from tests.oracle.views import views
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.histories.watching import ALL, MASTER, OTHER, PROBER, SLAVE, look, looks
from tests.rigs.runs.judged_runs import manifest_of


def observations(history: History, *workers: WorkerRecord, judged: bool = True) -> list[str]:
    facts, rows = history.build()
    manifest = manifest_of(facts)
    manifest.workers += workers
    found = routes.observe(manifest, judge(facts, rows), views(facts, rows), judged)
    return [f"{'' if one.judged else 'NOT JUDGED '}{one.text}" for one in found]


def drawn(history: History, clients: tuple[ClientEvent, ...] = ()) -> Routes:
    facts, rows = history.build()
    return routes.routes(manifest_of(facts), views(facts, rows), clients)


def freeze() -> History:
    """ns1 is silent from 10.4 s on for 10 s; ns2 drops the master in the mean time."""
    history = History().window(10_000, returned_ms=10_100)
    looks(history, "ns1", range(9_200, 10_400, 400), *ALL)
    for at_ms in range(10_400, 20_400, 400):
        look(history, "ns1", at_ms, why="no answer within 1 s", took_ms=1_000)
    looks(history, "ns1", range(20_400, 22_000, 400), *ALL)
    looks(history, "ns2", range(9_200, 16_000, 400), *ALL)
    looks(history, "ns2", range(16_000, 22_000, 400), SLAVE, OTHER)
    return history


def test_a_run_lists_dropped_brokers_and_silent_name_servers() -> None:
    assert observations(freeze()) == [
        "mqproof queried each of 2 name servers for the route at least 32 times, at most 0.40 s "
        "apart; ns1 gave no answer for 10.0 s",
        "fault 1: route changed (first name server) after 5.500 to 6.005 s, "
        "route changed (every name server) not within 50.0 s",
        "name server ns1 gave no answer from +10.40 s to +20.41 s: no answer within 1 s",
        "name server ns2 dropped broker-a master at rkt1:10911 between +15.60 s and +16.00 s",
    ]


def test_changes_between_the_same_probes_are_one_sentence() -> None:
    moved = "broker-a master at rkt3:10931"
    history = look(look(History(), "ns1", 0, MASTER, SLAVE), "ns1", 400, moved)
    assert observations(history)[-1] == (
        "name server ns1 dropped broker-a master at rkt1:10911, broker-a slave 1 at rkt3:10931, "
        "and showed broker-a master at rkt3:10931 between +0.00 s and +0.41 s"
    )


def test_too_infrequent_name_server_queries_are_reported() -> None:
    line = observations(look(look(History(), "ns1", 0, *ALL), "ns1", 700, *ALL))[0]
    assert re.match(r"NOT JUDGED .* at most 0\.70 s apart: more than the intended 0\.5 s", line)


def test_run_that_cannot_be_judged_states_no_recovery_times() -> None:
    assert [
        line for line in observations(freeze(), judged=False) if line.startswith("NOT JUDGED")
    ] == [
        "NOT JUDGED fault 1: route changed (first name server) after 5.500 to 6.005 s, "
        "route changed (every name server) not within 50.0 s"
    ]


def test_a_name_server_that_a_fault_hit_is_named() -> None:
    history = look(look(History().window(10_000), "ns1", 9_600, *ALL), "ns2", 9_600, *ALL)
    for at_ms in range(10_400, 20_400, 400):
        look(history, "ns1", at_ms, why="closed by the server")
    look(look(history, "ns1", 20_400), "ns2", 12_000, SLAVE)
    facts, rows = history.build()
    manifest = manifest_of(facts)
    manifest.windows += facts.windows
    manifest.state["windows"] = {"1": {"name_servers_hit": ["ns1"]}}
    found = routes.observe(manifest, judge(facts, rows), views(facts, rows), True)
    assert [one.text for one in found if one.name == "route"] == [
        "fault 1: route changed (first name server) after 0.000 to 2.005 s, route changed (every "
        "name server) after 0.000 to 2.005 s; without name server ns1, on the host that the fault "
        "hit"
    ]


def test_a_name_server_on_a_faults_host_is_named() -> None:
    state = {"windows": {"1": {"name_servers_hit": ["rkt1"]}}}
    assert routes.beside_target(state, 1, "kill", "master of orders", "rkt1") == "name server"
    assert routes.beside_target(state, 1, "kill", "name server of consumers", "rkt1") == ""
    assert routes.beside_target(state, 1, "kill", "master of orders", "rkt2") == ""
    assert routes.beside_target(state, 1, "hang", "master of orders", "rkt1") == ""  # of links
    assert routes.beside_target({}, 1, "kill", "master of orders", "rkt1") == ""


def test_a_run_without_a_prober_says_nothing_of_routes() -> None:
    history = History().window(10_000)
    assert observations(history) == []
    assert drawn(history) == Routes()


def test_routes_of_several_queues_are_named_by_queue() -> None:
    history = look(History(), "ns1", 0, MASTER)
    look(history, "ns1", 400, why="closed by the server")
    look(history, "ns1", 0, OTHER, prober=PROBER + 1)
    probers = [
        WorkerRecord(f"prober-{queue}", PROBER + place, "prober", 0, True)
        for place, queue in enumerate(("orders", "bills"))
    ]
    assert observations(history, *probers)[-1].startswith(
        "name server ns1 (orders) gave no answer"
    )


def test_more_sentences_than_one_reads_are_counted() -> None:
    history = History()
    for place in range(routes.SENTENCES_MAX + 3):
        look(history, "ns1", place * 400, *((MASTER,) if place % 2 else ()))
    lines = observations(history)
    assert len(lines) == 1 + routes.SENTENCES_MAX + 1
    assert lines[-1] == "2 more changes of the route are in marts/changes"


def test_each_broker_per_name_server_has_a_row_with_silences() -> None:
    rows = {row.name: row.stretches for row in drawn(freeze()).servers}
    assert list(rows) == [
        *("ns1: broker-a master", "ns1: broker-a slave 1", "ns1: broker-b master"),
        *("ns2: broker-a master", "ns2: broker-a slave 1", "ns2: broker-b master"),
    ]
    assert [parts(one) for one in rows["ns1: broker-b master"]] == [
        ("shown", 9_205, 21_600, "rkt2:10921"),
        ("silent", 10_400, 20_405, "no answer"),
    ]
    assert [parts(one) for one in rows["ns2: broker-a master"]] == [
        ("shown", 9_205, 16_005, "rkt1:10911"),
        ("dropped", 16_005, 21_600, "dropped"),
    ]
    dropped = rows["ns2: broker-a master"][1]
    assert dropped.title.endswith("between +15.60 s and +16.00 s")


def test_a_master_that_moved_is_one_row_with_two_addresses() -> None:
    history = look(History(), "ns1", 0, MASTER)
    looks(history, "ns1", range(400, 1_600, 400), "broker-a master at rkt3:10931")
    (row,) = drawn(history).servers
    assert [(one.state, one.text) for one in row.stretches] == [
        ("shown", "rkt1:10911"),
        ("shown", "rkt3:10931"),
    ]


def test_more_rows_than_one_can_see_are_counted() -> None:
    shown = [f"broker-{place} master at h:{place}" for place in range(ROWS_MAX + 2)]
    found = drawn(look(look(History(), "ns1", 0, *shown), "ns1", 400, *shown))
    assert (len(found.servers), found.left_out) == (ROWS_MAX, 2)


def parts(one: Stretch) -> tuple[str, int, int, str]:
    return one.state, one.from_ns // 1_000_000, one.until_ns // 1_000_000, one.text


def test_each_client_uses_one_name_server_until_it_reports_another() -> None:
    def event(worker: int, at_ms: float, kind: str, detail: str = "") -> ClientEvent:
        return ClientEvent(worker, ns(at_ms), kind, 1, "", detail)

    clients = (
        event(CONSUMER, 900, "attached", "ns1"),
        event(PUBLISHER, 1_000, "attached", "ns1"),
        event(PUBLISHER, 1_100, "connected", "rocketmq-java 5.3.3"),
        event(PUBLISHER, 15_000, "attached", "ns2"),
        event(PUBLISHER, 30_000, "closed"),
    )
    rows = {
        row.name: [parts(one) for one in row.stretches]
        for row in drawn(History(), clients).clients
    }
    assert rows == {
        "publisher-1": [("asked", 1_000, 15_000, "ns1"), ("asked", 15_000, 30_000, "ns2")],
        # No record has its end: it asked until the last recorded phase.
        "consumer-1": [("asked", 900, 27_000, "ns1")],
    }


def test_client_that_reports_no_name_server_is_listed_as_such() -> None:
    (row,) = drawn(History(), (ClientEvent(PUBLISHER, ns(1), "attached", 1, "", ""),)).clients
    assert replace(row.stretches[0], title="").text == "no name server"


def test_row_of_a_clients_route_ends_with_the_client() -> None:
    def event(worker: int, at_ms: float, kind: str, detail: str = "") -> ClientEvent:
        return ClientEvent(worker, ns(at_ms), kind, 1, "", detail)

    clients = (
        event(PUBLISHER, 1_000, "route", f"{MASTER}; {SLAVE}; {OTHER}"),
        event(PUBLISHER, 1_000, "attached", "ns1"),
        event(PUBLISHER, 12_000, "route", f"{SLAVE}; {OTHER}"),
        event(PUBLISHER, 15_000, "route", f"broker-a master at rkt9:10911; {SLAVE}; {OTHER}"),
        event(PUBLISHER, 30_000, "closed"),
        event(CONSUMER, 2_000, "route", OTHER),
    )
    found = drawn(History(), clients)
    rows = {row.name: [parts(one) for one in row.stretches] for row in found.believed}
    assert rows == {
        "publisher-1: broker-a master": [
            ("shown", 1_000, 12_000, "rkt1:10911"),
            ("dropped", 12_000, 15_000, "dropped"),
            ("shown", 15_000, 30_000, "rkt9:10911"),
        ],
        # What changed was not theirs.
        "publisher-1: broker-a slave 1": [("shown", 1_000, 30_000, "rkt3:10931")],
        "publisher-1: broker-b master": [("shown", 1_000, 30_000, "rkt2:10921")],
        "consumer-1: broker-b master": [("shown", 2_000, 27_000, "rkt2:10921")],
    }
    first, second, _ = found.believed[0].stretches
    assert first.title == "the route of publisher-1 had broker-a master at rkt1:10911 by +1.00 s"
    assert second.title == "the route of publisher-1 no longer had broker-a master by +12.00 s"


def test_unknown_route_is_blank_and_an_empty_one_dropped() -> None:
    def believed(*details: str) -> list[tuple[str, int, int, str]]:
        events = tuple(
            ClientEvent(PUBLISHER, ns(at_s * 1_000), "route", 1, "", observations)
            for at_s, observations in enumerate((OTHER, *details), start=1)
        )
        (row,) = drawn(History(), events).believed
        return [parts(one) for one in row.stretches]

    known = ("shown", 1_000, 2_000, "rkt2:10921")
    assert believed("not to be found out: java.lang.NullPointerException") == [known]
    again = ("shown", 3_000, 27_000, "rkt2:10921")
    assert believed("not to be found out: x", OTHER) == [known, again]
    assert believed("nothing") == [known, ("dropped", 2_000, 27_000, "dropped")]


def test_more_brokers_of_clients_than_one_can_see_are_counted() -> None:
    shown = "; ".join(f"broker-{place} master at h:{place}" for place in range(ROWS_MAX + 2))
    found = drawn(History(), (ClientEvent(PUBLISHER, ns(1), "route", 1, "", shown),))
    assert (len(found.believed), found.believed_left_out) == (ROWS_MAX, 2)


# --- who led -----------------------------------------------------------------------------------

VOTER = "rkd2/broker-a-1"


def election() -> History:
    """broker-a-1 follows n0, then no leader, then leads itself."""
    history = look(History(), VOTER, 0, "broker-a: n0 leads, term 1", kind="leader")
    look(history, VOTER, 400, "broker-a: n0 leads, term 1", kind="leader")
    look(history, VOTER, 800, "broker-a: no broker leads, term 2", kind="leader")
    return look(history, VOTER, 1_200, "broker-a: n1 leads, term 3", kind="leader")


def test_voter_changes_are_reported_with_bounds_excluding_its_first_statement() -> None:
    assert observations(election()) == [
        f"{VOTER} reported broker-a: no broker leads, term 2 between +0.40 s and +0.81 s",
        f"{VOTER} reported broker-a: n1 leads, term 3 between +0.80 s and +1.21 s",
    ]


def test_a_voters_leader_is_a_row_that_includes_its_silence() -> None:
    history = look(election(), VOTER, 1_600, kind="leader", why="no answer within 1 s")
    (row,) = drawn(history).servers
    assert row.name == f"{VOTER}: broker-a"
    assert [(one.state, one.text) for one in row.stretches] == [
        ("said", "n0 leads, term 1"),
        ("said", "no broker leads, term 2"),
        ("said", "n1 leads, term 3"),
        ("silent", "no answer"),
    ]
    assert row.stretches[0].title.startswith(f"{VOTER} reported broker-a: n0 leads, term 1 by ")


def _with_other_voters(history: History, *others: str) -> tuple[list[str], list[str]]:
    """Return the sentences and the row texts of VOTER in a run of a layout of mqproof's own."""
    for other in others:
        look(history, other, 0, "broker-a: n0 leads, term 1", kind="leader")
    facts, rows = history.build()
    made, found = manifest_of(facts), views(facts, rows)
    made.system, made.layout = "rocketmq-dledger", "colocated@compressed"
    lines = routes.observe(made, judge(facts, rows), found, True)
    own = (row for row in routes.routes(made, found, ()).servers if row.source == VOTER)
    return [one.text for one in lines], [one.text for row in own for one in row.stretches]


def test_a_leader_is_named_by_its_host() -> None:
    texts, drawn_texts = _with_other_voters(election(), "rkd1/broker-a-0", "rkd3/broker-a-2")
    assert texts == [
        f"{VOTER} reported broker-a: no broker leads, term 2 between +0.40 s and +0.81 s",
        f"{VOTER} reported broker-a: rkd2 (n1) leads, term 3 between +0.80 s and +1.21 s",
    ]
    assert drawn_texts[0] == "rkd1 (n0) leads, term 1"
    event = ClientEvent(PROBER, ns(1), "leader changed", 1, "", "x says broker-a: n1 leads")
    (named,) = events_with_hosts((event,), {("broker-a", "n1"): "rkd2"})
    assert named.detail == "x says broker-a: rkd2 (n1) leads"


def test_a_leaders_id_stays_if_other_voters_were_queried() -> None:
    texts, _ = _with_other_voters(election(), "rkd1/broker-a-0", "rkd4/broker-a-2")
    assert any("broker-a: n1 leads, term 3" in text for text in texts)


def test_the_route_is_not_changed_by_what_a_voter_says() -> None:
    history = look(election().window(0), "ns1", 0, *ALL)
    stages = [
        one for one in observations(look(history, "ns1", 1_000, *ALL)) if "route changed" in one
    ]
    assert all("not within" in one for one in stages)
