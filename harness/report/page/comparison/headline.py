"""What differs most between columns, in one line; and whether that is more than chance.

1. Who lost or stranded messages comes first; else who was out, and for how long. It tells what
   these runs did; that two columns differ is said only where the interval of the difference, of
   95 %, does not cover zero.
2. Columns are called by their letters, two of them by what tells them apart, too: a letter can
   lose and be out, a clause (`a confirm waits for a slave`) cannot.
"""

import math
from collections.abc import Iterable, Sequence

from harness.compare.medians import NO_DIFFERENCE, Difference, Time, difference
from harness.compare.rates import CONFIDENCE, Rate
from harness.compare.versus import rates_apart
from harness.report.page import formats
from harness.report.page.comparison.places import Place, VerdictView, listed
from harness.report.page.outs import is_fine, is_out, out_text
from harness.report.page.totals import loss_rate, totals_of

NAMED_MAX = 2  # so many columns are called by more than their letters
TIMED_MAX = 4  # so many get their own time


def headline(verdicts: Sequence[VerdictView]) -> str:
    """`C (RabbitMQ 3.10) lost 37 messages that it had confirmed, in 2 of 3 runs; A and B lost
    none`, or `B (amqplib) was unavailable for 5 min 00 s; C (pika) for 4 min 58 s; none …`."""
    lost = [one for one in verdicts if one.tone == "fail"]
    if lost:
        return _of_loss(lost, verdicts)
    open_ones = [one.place.letter for one in verdicts if one.tone == "open"]
    kept = [one.place.letter for one in verdicts if one.tone == "pass"]
    outages = _of_outages([one.place for one in verdicts if one.place.totals.judged])
    if not kept:
        return "; ".join([*outages, "Nothing was found lost" if not outages else "no loss found"])
    none = "none lost a confirmed message"
    if not outages:
        fine = all(_was_fine(one.place) for one in verdicts)
        served = ", and none was unavailable" * fine
        none = f"None of them lost a message that it had confirmed{served}"
    if open_ones:
        none = f"{listed(kept)} lost none; for {listed(open_ones)}, loss is not decided"
        none = none if outages else f"Nothing was found lost; {none}"
    return "; ".join([*outages, none])


def sure(compared: Sequence[Place], scenarios: Sequence[str]) -> str:
    """Whether the largest difference of two columns in one scenario is more than chance: of how
    often they lost, and of how long they were out. "" where no column did either."""
    sentences = (_sure_of_loss(compared, scenarios), _sure_of_outages(compared, scenarios))
    return " ".join(one for one in sentences if one)


def _sure_of_loss(compared: Sequence[Place], scenarios: Iterable[str]) -> str:
    pairs = [
        (more, less, scenario)
        for scenario in scenarios
        for more in compared
        for less in compared
        if _often(more, scenario) > _often(less, scenario) >= 0
    ]
    if not pairs:
        return ""
    more, less, scenario = max(
        pairs, key=lambda pair: _often(pair[0], pair[2]) - _often(pair[1], pair[2])
    )
    often, seldom = _loss(more, scenario), _loss(less, scenario)
    low, high, p = rates_apart(seldom, often)
    many, few = (f"{one.violated} of {formats.plural(one.runs, 'run')}" for one in (often, seldom))
    if p is not None and p < 1 - CONFIDENCE and low > 0:
        by = f"by {formats.share(low)} to {formats.share(high)} of runs (95 %)"
        return (
            f"Beyond chance, {more.letter} lost more often than {less.letter}, {by}: "
            f"in {many} against {few} ({scenario})."
        )
    return (
        f"{more.letter} lost messages in {many}, {less.letter} in {few} ({scenario}): "
        "that shows no difference beyond chance (95 %)."
    )


def _sure_of_outages(compared: Sequence[Place], scenarios: Iterable[str]) -> str:
    pairs = [
        (more, less, scenario)
        for scenario in scenarios
        for more in compared
        for less in compared
        if more is not less and _times(more, scenario) and _times(less, scenario)
    ]
    if not pairs:
        return ""
    more, less, scenario = max(pairs, key=lambda pair: _apart(*pair))
    if _apart(more, less, scenario) <= 0:
        return ""
    first, second = _times(less, scenario), _times(more, scenario)
    longer = difference(first, second)
    of = f"{_runs(second)} of {more.letter} against {len(first)} of {less.letter} ({scenario})"
    if longer.shown:
        return (
            f"Beyond chance, {more.letter} was unavailable longer than {less.letter}, "
            f"by {_ends(longer)} (95 %; {of})."
        )
    few = math.isinf(longer.low) and math.isinf(longer.high)
    why = "are too few to tell" if few else f"leave {_ends(longer)} possible"
    return (
        f"Downtime: {NO_DIFFERENCE} beyond chance (95 %). {of} {why}. "
        "The times below are those of these runs only."
    )


def _of_loss(lost: Sequence[VerdictView], verdicts: Sequence[VerdictView]) -> str:
    letters = {
        tone: [one.place.letter for one in verdicts if one.tone == tone]
        for tone in ("fail", "pass", "open")
    }
    if len(lost) <= NAMED_MAX:
        parts = [_guilty(one, one is lost[-1]) for one in lost]
    else:
        whose = f"{len(lost)} of {len(verdicts)} lost or stranded messages that they had confirmed"
        parts = [f"{whose} ({listed(letters['fail'])})"]
    if letters["pass"]:
        parts.append(f"{listed(letters['pass'])} lost none")
    if letters["open"]:
        parts.append(f"for {listed(letters['open'])}, loss is not decided")
    return "; ".join(parts)


def _guilty(one: VerdictView, last: bool) -> str:
    """`A (pika) lost 37 in 2 of 3 runs`; the last of them says what it was, too."""
    totals = one.place.totals
    of = " messages that it had confirmed," if last else ""
    runs = formats.of(totals.runs_with_loss, totals.loss_judged, "run")
    least = "at least " if totals.loss_proved < totals.judged else ""
    done = [f"lost {least}{formats.count(totals.lost)}"] if totals.lost else []
    done += [f"stranded {least}{formats.count(totals.stranded)}"] if totals.stranded else []
    return f"{_called(one.place)} {' and '.join(done)}{of} in {runs}"


def _called(place: Place) -> str:
    return f"{place.letter} ({place.name})"


def _of_outages(judged: Sequence[Place]) -> list[str]:
    """Yield the longest first; those without downtime, and the unknown ones, come last."""
    out = sorted(
        (place for place in judged if is_out(place.totals)),
        key=lambda place: -(place.totals.out.maximum_s if place.totals.out else 0.0),
    )
    if not out:
        return []
    parts = [f"{_called(out[0])} was unavailable for {_time(out[0])}"]
    parts += [
        f"{_called(place) if number < NAMED_MAX else place.letter} for {_time(place)}"
        for number, place in enumerate(out[1:TIMED_MAX], start=1)
    ]
    if len(out) > TIMED_MAX:
        parts.append(f"{listed([place.letter for place in out[TIMED_MAX:]])} for less")
    never = [place.letter for place in judged if is_fine(place.totals)]
    unknown = [place.letter for place in judged if place not in out and place.letter not in never]
    parts += [f"{listed(never)} not at all"] if never else []
    parts += [f"{listed(unknown)}: unknown"] if unknown else []
    return parts


def _time(place: Place) -> str:
    return out_text(place.totals).replace("≥", "at least")


def _was_fine(place: Place) -> bool:
    return bool(place.totals.faults_of) and is_fine(place.totals)


def _loss(place: Place, scenario: str) -> Rate:
    return loss_rate(totals_of([run for run in place.runs if run.cell[0] == scenario]))


def _often(place: Place, scenario: str) -> float:
    """In which share of its runs it lost; -1 where that is known of none."""
    of = _loss(place, scenario)
    return of.violated / of.runs if of.runs else -1.0


def _times(place: Place, scenario: str) -> list[Time]:
    numbers = [
        run.summary.out_s
        for run in place.runs
        if run.cell[0] == scenario and run.summary is not None
    ]
    return [Time(one.least, not one.exact) for one in numbers if one.least is not None]


def _apart(more: Place, less: Place, scenario: str) -> float:
    """By how much the one was out longer, at worst."""
    longest = [max(one.value for one in _times(place, scenario)) for place in (more, less)]
    return longest[0] - longest[1]


def _ends(change: Difference) -> str:
    """`2.10 s to 4.00 s`; an end that so few runs cannot give is open."""
    if math.isinf(change.high):
        return f"at least {_end(change.low)}"
    if math.isinf(change.low):
        return f"at most {_end(change.high)}"
    return f"{_end(change.low)} to {_end(change.high)}"


def _end(seconds: float) -> str:
    return f"{'−' if seconds < 0 else ''}{formats.seconds(abs(seconds))}"


def _runs(times: Sequence[Time]) -> str:
    return formats.plural(len(times), "run")
