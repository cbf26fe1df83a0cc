"""What is said of service and consumption: the scope that decided it, and how it was out."""

from dataclasses import replace

import pytest

from harness.claims.served import consumed, rows_of, sentence, served
from harness.claims.values import Unknown, Why
from spark_analysis.schema.service import (
    CONSUMER,
    FEW,
    HEALED,
    OPEN,
    OUT,
    PUBLISHER,
    QUEUE,
    RUN,
    SERVED,
    Consumption,
    Outage,
    Service,
)
from tests.rigs.runs.findings import Story, ns

NEVER_OPEN = Unknown("no row of this test is open")


def out(seconds: float, scope: str = RUN, name: str = "") -> Service:
    """A scope that was unavailable for so long in a fault from 12 to 27 s."""
    return Service("run", 1, scope, name, "fault", ns(12), ns(27), 750, 750, ns(seconds), OUT)


def outage(begins: float, ends: float, ended: str) -> Outage:
    return Outage("run", RUN, "", ns(begins), ns(ends), ended, 500, 500, "1")


def silent(due: int, name: str) -> Consumption:
    return Consumption("run", 1, CONSUMER, name, due, False, ns(60))


def test_longest_unavailable_client_or_queue_is_named() -> None:
    rows = [out(3), out(9, QUEUE, "orders"), out(5, PUBLISHER, "1")]
    assert sentence(rows, []) == "queue orders was unavailable for 9.0 s, and 2 more"


def test_starved_consumer_with_most_available_messages_is_named() -> None:
    rows = [silent(40, "6"), silent(900, "7"), silent(300, "8")]
    assert consumed(rows, ns(60)) == (False, "consumer 7 got (nearly) nothing of 900 messages")


def test_consumer_with_less_than_half_proves_nothing() -> None:
    partly = replace(silent(40, "6"), at_ns=ns(59))
    assert consumed([partly], ns(60))[0] is None
    assert consumed([partly, silent(40, "7")], ns(60))[0] is False
    assert consumed([replace(partly, resumed=True)], ns(60))[0] is True


@pytest.mark.parametrize(("few", "answer"), [(2, True), (3, True), (4, None)])
def test_at_least_half_of_the_scopes_have_to_be_judged(few: int, answer: bool | None) -> None:
    good = replace(out(0), verdict=SERVED)
    scopes = [replace(good, scope=QUEUE, name=str(each)) for each in range(2)]
    too_few = [replace(out(0), scope=QUEUE, name=f"x{n}", verdict=FEW) for n in range(few)]
    found = served([good, *scopes, *too_few], lambda _: NEVER_OPEN)
    assert (None if isinstance(found, Unknown) else found) is answer


def test_a_run_confirmed_only_after_the_undo_says_so() -> None:
    assert (
        sentence([out(0)], [])
        == "the cluster as a whole was confirmed only once the fault was undone"
    )


def test_only_the_longest_outage_of_its_time_names_its_end() -> None:
    before = outage(0, 12, "either"), outage(0, 11, "system")
    within = outage(13, 22, "undo"), outage(24, 25, "system")
    after = outage(27, 50, "unknown")
    expected = "the cluster as a whole was unavailable for 9.0 s, until the fault's end"
    assert sentence([out(9)], [*before, *within, after]) == expected


def test_an_outage_while_clients_reconnect_is_reported_and_does_not_count() -> None:
    row = Service("run", 1, RUN, "", HEALED, ns(37.2), ns(60), 750, 750, 0, SERVED)
    found = [outage(20, 26, "system"), outage(31, 34, "system"), outage(40, 41, "system")]
    assert sentence([row], found, ns(27)) == (
        "served from +37.2 s, when clients had had time to reconnect, to +60.0 s: the cluster as "
        "a whole; the outage of 3.0 s from +31.0 s does not count: it lies within the time that "
        "clients have to reconnect (until +37.2 s)"
    )


def test_further_unavailable_scopes_are_counted() -> None:
    assert sentence([out(3), out(9, QUEUE, "orders")], []).endswith(", and 1 more")


def test_queues_of_consumer_groups_are_not_what_messages_are_sent_to() -> None:
    row = Consumption("run", 1, QUEUE, "orders-a", 40, True, ns(13))
    rows = [row, replace(row, name="orders-b")]
    assert consumed(rows, ns(60), "group queue") == (True, "2 group queues")
    good = replace(out(0), verdict=SERVED)
    sent = [good, replace(good, scope=QUEUE, name="orders")]
    expected = "served: the cluster as a whole, 1 destination"
    assert sentence(sent, [], queue="destination") == expected


def test_the_row_of_the_run_comes_first() -> None:
    scopes = [row.scope for row in rows_of(Story().evidence.findings, 1, "fault")]
    assert scopes == [RUN, PUBLISHER, QUEUE]


def test_too_little_load_after_a_fault_suggests_a_longer_load() -> None:
    row = Service("run", 1, RUN, "", HEALED, ns(27), ns(60), 5, 5, 0, FEW)
    advice = "extend the load after the fault (`recovery`), or send more (`rate`)"
    why = Why(" publishes were due then", 5, "only ")
    assert served([row], lambda _: NEVER_OPEN) == Unknown(why, advice)
    assert str(why) == "only 5 publishes were due then"


def test_an_open_scope_keeps_the_number_of_its_reason() -> None:
    row = Service("run", 1, RUN, "", HEALED, ns(27), ns(60), 500, 500, 0, SERVED)
    own = replace(row, scope=QUEUE, name="orders", verdict=OPEN)
    why = Why(" of 90 were missed", 7, "at least ", window=1)
    found = served([row, own], lambda _: Unknown(why))
    assert isinstance(found, Unknown) and isinstance(found.reason, Why)
    assert str(found.reason) == "fault 1: queue orders: at least 7 of 90 were missed"
    assert found.reason == replace(why, before="queue orders: at least ")
