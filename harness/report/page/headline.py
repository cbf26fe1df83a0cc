"""What differs most between columns, in one line; and whether that is more than chance.

1. Who lost or stranded messages comes first; else who was out, and for how long. It tells what
   these runs did; that two columns differ is said only where the interval of the difference, of
   95 %, does not cover zero.
2. Columns are called by their letters, a few of them by what tells them apart, too: a letter can
   lose and be out, a clause (`a confirm waits for a slave`) cannot.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import permutations

from harness.compare.medians import NO_DIFFERENCE, Difference, Time, difference
from harness.compare.rates import CONFIDENCE, Rate
from harness.compare.versus import rates_apart
from harness.report.page import formats, outs
from harness.report.page.places import Place, VerdictView, listed
from harness.report.page.totals import RunTotals, loss_rate, times_of

LOSERS_MAX = 2  # so many columns that lost are called by more than their letters
NAMED_MAX = 3  # so many of those that were unavailable
TIMED_MAX = 4  # so many get their own time
FAULTS_ALIKE = 1.2  # lengths of faults whose ratio is larger stand in the headline
ONE_RUN = "One run of each cell shows what can happen, not how often."


def headline(verdicts: Sequence[VerdictView]) -> str:
    """`C (RabbitMQ 3.10) lost 37 messages that it had confirmed, in 2 of 3 runs; A and B lost
    none`, or `B (amqplib) had 5 min 00 s of downtime; C (pika) 4 min 58 s; A none; …`."""
    if not any(one.place.totals.judged for one in verdicts):
        return "No run was judged"
    lost, kept, open_ones = (
        [one.place for one in verdicts if one.tone == tone] for tone in ("fail", "pass", "open")
    )
    kept_text = f"{_letters(kept)} lost none" if kept else ""
    open_text = f"for {_letters(open_ones)}, loss is not decided" if open_ones else ""
    if lost:
        parts = [_guilty(one, one is lost[-1]) for one in lost]
        if len(lost) > LOSERS_MAX:
            of = f"{len(lost)} of {len(verdicts)}"
            parts = [f"{of} lost or stranded messages that they had confirmed ({_letters(lost)})"]
        return "; ".join(filter(None, (*parts, kept_text, open_text)))
    outages = _of_outages([one.place for one in verdicts if one.place.totals.judged])
    if not kept:
        return "; ".join([*outages, "no loss found" if outages else "Nothing was found lost"])
    if open_ones:
        none = f"{kept_text}; {open_text}"
        return "; ".join([*outages, none] if outages else ["Nothing was found lost", none])
    if outages:
        return "; ".join([*outages, "none lost a confirmed message"])
    totals = [one.place.totals for one in verdicts]
    fine = all(one.faults and one.is_fine for one in totals)
    served = ", and none had a downtime" if fine else ""
    return f"None of them lost a message that it had confirmed{served}"


def sure(compared: Sequence[Place], scenarios: Sequence[str]) -> str:
    """Whether the largest difference of two columns in one scenario is more than chance: of how
    often they lost, and of how long they were out. "" where no column did either."""
    sentences = [_sure_of_loss(compared, scenarios), _sure_of_outages(compared, scenarios)]
    said = [one for one in sentences if one]
    runs = [len(place.of(scenario)) for place in compared for scenario in scenarios]
    return ONE_RUN if said and max(runs, default=0) < 2 else " ".join(said)


def conditions(compared: Sequence[Place]) -> str:
    """Return that columns had different detection timeouts, and how long their faults lasted; ""
    if they had the same, or one is unknown. Times of such columns do not compare."""
    timeouts_s = [_detection_timeouts_s(place) for place in compared]
    if not all(len(own) == 1 for own in timeouts_s) or len(set.union(*timeouts_s)) < 2:
        return ""
    ran = [
        f"{place.letter} {'ran ' if not number else ''}with a detection timeout of {min(own):g} s"
        for number, (place, own) in enumerate(zip(compared, timeouts_s, strict=True))
    ]
    lasted = [(place.letter, outs.all_lengths_text(place.runs)) for place in compared]
    faults = [
        f"{'faults lasted ' if not number else ''}{text} on {letter}"
        for number, (letter, text) in enumerate(lasted)
    ]
    known = f"; {listed(faults)}" if all(text for _, text in lasted) else ""
    return f"{listed(ran)}{known}. To compare them, use the same timeout."


def _detection_timeouts_s(place: Place) -> set[float]:
    states = [run.detail.manifest.state for run in place.runs if run.detail is not None]
    found = (state.get("detection_timeout_s") for state in states)
    return {float(one) for one in found if isinstance(one, int | float)}


def _sure_of_loss(compared: Sequence[Place], scenarios: Iterable[str]) -> str:
    losses = (
        (scenario, [(place, loss_rate(RunTotals(place.of(scenario)))) for place in compared])
        for scenario in scenarios
    )
    pairs = [
        (often, seldom, more, less, scenario)
        for scenario, found in losses
        for (more, often), (less, seldom) in permutations(found, 2)
        if _often(often) > _often(seldom) >= 0
    ]
    if not pairs:
        return ""
    often, seldom, more, less, scenario = max(
        pairs, key=lambda pair: _often(pair[0]) - _often(pair[1])
    )
    low, high, p = rates_apart(seldom, often)
    many, few = (f"{one.violated} of {formats.plural(one.runs, 'run')}" for one in (often, seldom))
    if p is not None and p < 1 - CONFIDENCE and low > 0:
        by = f"by {formats.share(low)} to {formats.share(high)} of runs (95 %)"
        return (
            f"Beyond chance, {more.letter} lost more often than {less.letter}, {by}: "
            f"in {many} against {few} ({scenario})."
        )
    return (
        f"{more.letter} lost messages in {many}, {less.letter} in {few} ({scenario}). "
        "With so few runs, this difference is not statistically significant (95 % level): "
        "increase --repeats."
    )


def _sure_of_outages(compared: Sequence[Place], scenarios: Iterable[str]) -> str:
    pairs = [
        (second, first, more, less, scenario)
        for scenario in scenarios
        for (more, second), (less, first) in permutations(_times(compared, scenario), 2)
        if second and first
    ]
    if not pairs:
        return ""
    second, first, more, less, scenario = max(pairs, key=lambda pair: _apart(*pair[:2]))
    if _apart(second, first) <= 0:
        return ""
    longer = difference(first, second)
    runs = formats.plural(len(second), "run")
    of = f"{runs} of {more.letter} against {len(first)} of {less.letter} ({scenario})"
    if longer.shown:
        return (
            f"Beyond chance, {more.letter} had more downtime than {less.letter}, "
            f"by {_ends(longer)} (95 %; {of})."
        )
    only = "The times below are those of these runs only."
    if math.isinf(longer.low) and math.isinf(longer.high):
        return f"Too few runs to compare downtimes: {of}. {only}"
    return (
        f"Downtime: {NO_DIFFERENCE} beyond chance (95 %). {of} leave {_ends(longer)} possible. "
        f"{only}"
    )


def _guilty(one: Place, last: bool) -> str:
    """`A (pika) lost 37 in 2 of 3 runs`; the last of them says what it was, too."""
    totals = one.totals
    of = " messages that it had confirmed," if last else ""
    runs = formats.of(totals.runs_with_loss, totals.loss_judged, "run")
    done = " and ".join(outs.lost_parts(totals, formats.count(totals.lost)))
    return f"{_called(one)} {done}{of} in {runs}"


def _called(place: Place) -> str:
    return f"{place.letter} ({place.name})"


def _letters(places: Sequence[Place]) -> str:
    return listed([place.letter for place in places])


def _of_outages(judged: Sequence[Place]) -> list[str]:
    """Yield the longest first; those without downtime, and the unknown ones, come last."""
    out = sorted(
        (place for place in judged if place.totals.is_out),
        key=lambda place: -place.totals.longest_out_s,
    )
    if not out:
        return []
    parts = [
        f"{_called(place) if number < NAMED_MAX else place.letter} {_time(place)}"
        for number, place in enumerate(out[:TIMED_MAX])
    ]
    worst = " in its worst run" if outs.has_several(out[0].totals) else ""
    parts[0] = f"{_called(out[0])} had {_time(out[0])} of downtime{worst}"
    lengths_s = _of_faults(judged)
    parts = [
        f"{part}{_lasted(lengths_s.get(place.letter))}"
        for part, place in zip(parts, out, strict=False)
    ]
    if len(out) > TIMED_MAX:
        parts.append(f"{_letters(out[TIMED_MAX:])} less")
    never = [place for place in judged if place.totals.is_fine]
    unknown = [place for place in judged if place not in out and place not in never]
    if never:
        alone = never[0].letter if len(never) == 1 else ""
        parts.append(f"{_letters(never)} none{_lasted(lengths_s.get(alone))}")
    parts += [f"{_letters(unknown)}: unknown"] if unknown else []
    return parts


def _lasted(fault_s: float | None) -> str:
    return "" if fault_s is None else f" (fault: {fault_s:.0f}{formats.GLUE}s)"


def _of_faults(judged: Sequence[Place]) -> dict[str, float]:
    """Return how long the fault of each column lasted, by its letter, if they differ by more than
    FAULTS_ALIKE; empty if a column has several faults or scenarios, or one without an end."""
    lengths_s = {place.letter: outs.fault_lengths_s(place.runs) for place in judged}
    every = [one for own in lengths_s.values() for one in own]
    single = all(place.totals.scenarios == 1 for place in judged)
    if not single or not all(lengths_s.values()) or max(every) <= FAULTS_ALIKE * min(every):
        return {}
    return {letter: max(own) for letter, own in lengths_s.items()}


def _time(place: Place) -> str:
    return outs.out_text(place.totals, outs.AT_LEAST)


def _often(of: Rate) -> float:
    """In which share of its runs it lost; -1 where that is known of none."""
    return of.violated / of.runs if of.runs else -1.0


def _times(compared: Iterable[Place], scenario: str) -> list[tuple[Place, list[Time]]]:
    """The downtimes that are known, of each place."""
    return [(place, times_of(place.of(scenario), lambda one: one.out_s)) for place in compared]


def _apart(more: Sequence[Time], less: Sequence[Time]) -> float:
    """By how much the one was out longer, at worst."""
    longest = [max(one.value for one in times) for times in (more, less)]
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
