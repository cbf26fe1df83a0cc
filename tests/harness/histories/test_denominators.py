"""Which claims a history has too few records for: acknowledgements, and ends of connections."""

import pytest

from harness.histories.denominators import unshown
from harness.histories.history import History
from tests.rigs.defects.runs import history, of_rows
from tests.rigs.histories import by_hand

AGAIN = "duplicated.redelivery_after_ack"
HELD = "duplicated.redelivered_without_cause"


def recorded(first: int, second: int, *, ended: int, acknowledged: int = 100) -> History:
    """One consumer receives by a first connection and then by a second; one of them ended."""
    built = by_hand.History()
    for number in range(acknowledged):
        connection = first if number < 50 else second
        built.publish(number, at_ms=number * 100).confirm(number)
        built.deliver(number, tag=number + 1, connection=connection)
        built.acknowledge(number + 1, connection=connection)
    facts, rows = built.client_event("lost", at_ms=5_000, connection=ended).build()
    return history(of_rows("run", facts, {}, {}, rows))


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1), (1_459, 1_099)])
def test_the_connection_that_received_first_is_the_one_that_ended(first: int, second: int) -> None:
    assert "not_redelivered" not in unshown(recorded(first, second, ended=first))
    why = unshown(recorded(first, second, ended=second))["not_redelivered"]
    assert why.endswith(f"no row says that connection {first} ended")


def test_a_hundred_acknowledgements_are_enough_and_99_are_not() -> None:
    assert AGAIN not in unshown(recorded(1, 2, ended=1, acknowledged=100))
    why = unshown(recorded(1, 2, ended=1, acknowledged=99))[AGAIN]
    assert why == "only 99 acknowledgements are on record, and 100 are needed"


@pytest.mark.parametrize(("tags", "many"), [((50, 60), 11), ((1, 99), 99), ((101, 400), 0)])
def test_only_acknowledgements_of_deliveries_count(tags: tuple[int, int], many: int) -> None:
    built = by_hand.History()
    for number in range(100):
        built.publish(number, at_ms=number * 100).confirm(number).deliver(number, tag=number + 1)
    built.acknowledge(*tags).acknowledge(1, 1_000, connection=7).acknowledge(60, 50)
    facts, rows = built.build()
    tables = {
        name: {column: [row[column] for row in listed] for column in listed[0]}
        for name, listed in rows.items()
    }
    assert unshown(History(facts, {}, {}, tables))[AGAIN].startswith(f"only {many} ")


@pytest.mark.parametrize(("lost_ms", "enough"), [(20_000, True), (9_000, False)])
def test_an_acknowledgement_after_its_connection_ended_counts_for_nothing(
    lost_ms: int, enough: bool
) -> None:
    built = by_hand.History().client_event("lost", at_ms=lost_ms)
    for number in range(100):
        built.publish(number, at_ms=number * 50).confirm(number).deliver(number, tag=number + 1)
    built.acknowledge(1, 100, at_ms=10_000)
    facts, rows = built.build()
    assert (AGAIN not in unshown(history(of_rows("run", facts, {}, {}, rows)))) is enough


def test_a_held_message_needs_deliveries_by_connections_that_acknowledge() -> None:
    assert HELD not in unshown(received(acknowledging=100, silent=50))
    why = unshown(received(acknowledging=99, silent=50))[HELD]
    assert why == (
        "only 99 deliveries came by connections with an acknowledgement on record, "
        "and 100 are needed"
    )


def received(*, acknowledging: int, silent: int) -> History:
    """One connection acknowledges its first delivery alone, and another one nothing."""
    built = by_hand.History()
    for number in range(acknowledging + silent):
        connection = 1 if number < acknowledging else 2
        built.publish(number, at_ms=number * 100).confirm(number)
        built.deliver(number, tag=number + 1, connection=connection)
    built.acknowledge(1, connection=1)
    facts, rows = built.build()
    return history(of_rows("run", facts, {}, {}, rows))


@pytest.mark.parametrize("of_b", [100, 99])
def test_each_consumer_group_needs_a_hundred_acknowledgements(of_b: int) -> None:
    found = unshown(acknowledged_by_groups({"a": 150, "b": of_b}))
    wanted = {} if of_b == 100 else dict.fromkeys((AGAIN, HELD))
    assert found.keys() & {AGAIN, HELD} == wanted.keys()
    if wanted:
        assert found[AGAIN].startswith("only 99 acknowledgements are on record in group b, and")
        assert found[HELD].startswith("only 99 deliveries in group b came by connections")


def acknowledged_by_groups(many: dict[str, int]) -> History:
    """Each group has a consumer, and acknowledges so many messages."""
    built = by_hand.History()
    for consumer, group in enumerate(many, start=2):
        built.group(group, consumer)
    for number in range(max(many.values())):
        built.publish(number, at_ms=number * 100).confirm(number)
        for consumer, (group, last) in enumerate(many.items(), start=2):
            if number < last:
                built.deliver(number, queue=f"orders-{group}", consumer=consumer)
                built.acknowledge(number + 1, consumer=consumer)
    facts, rows = built.build()
    return history(of_rows("run", facts, {}, {}, rows))
