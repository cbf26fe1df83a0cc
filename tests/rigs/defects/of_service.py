"""Defects of service towards publishers: outages that last, come back, or come by themselves.

An outage takes the confirms and the deliveries of what was sent in it.
"""

from collections.abc import Collection
from random import Random

from harness.claims.open_service import MAY_HAVE, TOO_FEW
from tests.rigs.defects.kinds import Defect
from tests.rigs.defects.runs import MS, Message, Row, Run, S, changed, message, moved, sent_within

TAKEOVER = ("mirror-takes-over", "mirrored-queue-works-on", "other-masters-take-over")
# By chance the last few publishes before the undo are served: then who ended the outage is open.
_HIDDEN = (MAY_HAVE, TOO_FEW, "to show that it lasted", "while the fault was active; only more")


def _unserved(run: Run, chosen: Collection[Message]) -> Run:
    """Take the confirms and deliveries of these messages."""

    def kept(row: Row) -> Row | None:
        return None if message(row) in chosen else row

    return run.having(
        settlements=changed(run.table("settlements"), kept),
        deliveries=changed(run.table("deliveries"), kept),
    )


def _flap(run: Run, random: Random) -> Run | None:
    """Outages of 2 to 3 s follow one another until the undo."""
    if not run.facts.windows:
        return None
    chosen: list[Message] = []
    at_ns = float(run.calm_ends + 200 * MS)
    while at_ns < run.undone:
        until_ns = at_ns + random.uniform(2, 3) * S
        chosen += sent_within(run, at_ns, min(until_ns, run.undone))
        at_ns = until_ns + random.uniform(1, 3) * S
    return _unserved(run, set(chosen))


def _brown_out(run: Run, random: Random) -> Run | None:
    if not run.facts.windows:
        return None
    share = random.uniform(0.5, 0.95)
    sent = sent_within(run, run.calm_ends, run.undone)
    return _unserved(run, {name for name in sent if random.random() < share})


def _out_until_undo(run: Run, random: Random) -> Run | None:
    if not run.facts.windows:
        return None
    return _unserved(run, set(sent_within(run, run.calm_ends, run.undone)))


def _hold_confirms(run: Run, random: Random) -> Run | None:
    """Each publish under the fault is confirmed and delivered, but only after the undo."""
    if not run.facts.windows:
        return None
    held = set(sent_within(run, run.calm_ends + 20 * MS, run.undone))
    undone = run.undone + random.randint(20, 400) * MS

    def confirmed(row: Row) -> Row:
        late = message(row) in held and row["settled_ns"] < undone
        return {**row, "settled_ns": undone + row["sequence"]} if late else row

    def given(row: Row) -> Row:
        late = message(row) in held and row["received_ns"] < undone
        return moved(row, undone + MS + row["sequence"]) if late else row

    return run.having(
        settlements=changed(run.table("settlements"), confirmed),
        deliveries=changed(run.table("deliveries"), given),
    )


def _stay_silent(run: Run, random: Random) -> Run | None:
    """From some time under the fault on, no publish is served any more."""
    if not run.facts.windows:
        return None
    from_ns = random.uniform(run.calm_ends, run.undone)
    return _unserved(run, set(sent_within(run, from_ns, run.facts.load_ended_ns + S)))


def _out_when_calm(run: Run, random: Random) -> Run | None:
    if run.facts.windows:
        return None
    from_ns = run.facts.load_started_ns + random.uniform(10, 25) * S
    return _unserved(run, set(sent_within(run, from_ns, from_ns + random.uniform(6, 12) * S)))


DEFECTS = (
    Defect(
        "flap",
        "is unavailable for 2 to 3 s again and again until the undo",
        TAKEOVER,
        _flap,
        _HIDDEN,
    ),
    Defect(
        "brown out", "serves 5 to 50 % of publishes until the undo", TAKEOVER, _brown_out, _HIDDEN
    ),
    Defect("wait for the undo", "serves no publish until the undo", TAKEOVER, _out_until_undo),
    Defect(
        "hold confirms until the undo",
        "confirms and delivers what was sent under the fault after the undo",
        TAKEOVER,
        _hold_confirms,
        _HIDDEN,
    ),
    Defect(
        "stay silent after the undo",
        "serves no publish any more from some time under the fault on",
        ("available-after-fault",),
        _stay_silent,
    ),
    Defect(
        "fail without a fault",
        "serves no publish for 6 to 12 s of the steady state",
        ("available-in-steady-state",),
        _out_when_calm,
    ),
)
