"""What defects have in common: which messages they strike, and which come later."""

from collections.abc import Callable, Iterable
from random import Random

from spark_analysis.schema.words import Via
from tests.rigs.defects.runs import Message, Row, Run, S, changed, message, moved

_MOST = 20
_DRAINER = 90


def few(rows: Iterable[Row], random: Random) -> list[Row]:
    """Return some of the rows, at random."""
    listed = list(rows)
    return random.sample(listed, min(len(listed), random.randint(1, _MOST)))


def names(rows: Iterable[Row]) -> set[Message]:
    """Return the messages of these rows."""
    return {message(row) for row in rows}


def plain(run: Run) -> list[Row]:
    """Return the deliveries of confirmed messages that came once, as one attempt."""
    often: dict[Message, int] = {}
    for row in run.table("deliveries"):
        often[message(row)] = often.get(message(row), 0) + 1
    confirmed = run.confirmed()
    return [row for row in run.of_load() if often[message(row)] == 1 and message(row) in confirmed]


def given_later(run: Run, chosen: Callable[[Row], bool], later: Callable[[Row], int]) -> Run:
    """Return the run whose consumers got the chosen deliveries later."""

    def given(row: Row) -> Row:
        return moved(row, later(row)) if row["via"] == Via.LOAD and chosen(row) else row

    return run.having(deliveries=changed(run.table("deliveries"), given))


def drained(run: Run, row: Row) -> Row:
    """Return the delivery as the drain would have got it."""
    at_ns = run.facts.load_ended_ns + 15 * S + row["received_ns"] // 1_000
    return moved(row, at_ns, via=int(Via.DRAIN), consumer=_DRAINER, connection=1, acked_ns=None)
