"""Lateness rows whose sum is just above, or just below, a twentieth of a window's judged time.

1. Pieces of a stall overlap each other, edges of the judged time, and absences of their worker.
"""

from dataclasses import replace

from spark_analysis.schema.facts import Absence, Facts
from tests.rigs.generated.facts import CONSUMERS, MS, PUBLISHERS
from tests.rigs.generated.rows import Teller

PIECES_MAX = 12
SHARE = 20  # one of so many parts of the judged time


def stalls(writer: Teller) -> None:
    """One worker's, in one window's judged time, which may be the time before the first."""
    times = [(a, b) for a, b in _judged(writer.facts) if b - a >= SHARE * MS]
    if not times:
        return
    from_ns, until_ns = writer.die.choice(times)
    worker = writer.die.choice((*PUBLISHERS, *CONSUMERS))
    allowed_ns = (until_ns - from_ns) // SHARE
    wanted_ns = allowed_ns + writer.die.choice([-1, 0, 1, MS])
    writer.tag("stalls of a twentieth and", wanted_ns - allowed_ns)
    piece_ns = max(
        -(-wanted_ns // PIECES_MAX), min(writer.die.choice([40, 90, 100]) * MS, wanted_ns)
    )
    at_ns = from_ns
    while wanted_ns > 0:
        length_ns = min(piece_ns, wanted_ns)
        _stall(writer, worker, from_ns, at_ns, at_ns + length_ns)
        wanted_ns -= length_ns
        # Pieces that touch each other, or lie apart; all fit, as they are a twentieth together.
        at_ns += length_ns + writer.die.choice([0, piece_ns // 2, 2 * piece_ns])


def _stall(writer: Teller, worker: int, judged_ns: int, from_ns: int, at_ns: int) -> None:
    """One piece that counts in full, told in one row or in two that overlap."""
    begins_ns = from_ns
    if from_ns == judged_ns and writer.often(50):
        writer.tag("a stall reaches over an edge")
        begins_ns = max(0, from_ns - 30 * MS)
    elif writer.often(10):
        writer.tag("a stall reaches into an absence")
        begins_ns = max(0, from_ns - 5 * MS)
        away = Absence(worker, begins_ns, from_ns)
        writer.facts = replace(writer.facts, absences=(*writer.facts.absences, away))
    if writer.often(25):
        writer.tag("stalls overlap")
        middle_ns = (from_ns + at_ns) // 2
        writer.be_late(worker, begins_ns, at_ns - (at_ns - middle_ns) // 2)
        writer.be_late(worker, middle_ns, at_ns)
    else:
        writer.be_late(worker, begins_ns, at_ns)


def _judged(facts: Facts) -> list[tuple[int, int]]:
    windows = sorted(facts.windows, key=lambda window: window.number)
    edges = [window.origin_ns for window in windows] + [facts.load_ended_ns]
    return [*zip([facts.load_started_ns, *edges], edges, strict=False)]
