"""What differs most between columns, in one line; and whether that is more than chance.

1. Who lost or stranded messages comes first; else who was out, and for how long. It tells what
   these runs did; that two columns differ is said only where the interval of the difference, of
   95 %, does not cover zero.
2. Columns are called by what tells them apart, with their letters.
"""

import math
from collections.abc import Iterable, Sequence

from harness.analyse.medians import NO_DIFFERENCE, Difference, Time, difference
from harness.report.page import words
from harness.report.page.outs import is_fine, is_out, out_text
from harness.report.page.places import Place, VerdictView, listed

NAMED_MAX = 2  # so many columns are called by more than their letters
TOLD_MAX = 4  # so many are told with a time of their own


def headline(verdicts: Sequence[VerdictView]) -> str:
    """`RabbitMQ 3.10 (C) lost 37 messages that it had confirmed; A and B lost none`, or
    `amqplib (B) was out for 5 min 00 s; C for 4 min 58 s; A not at all; none lost a …`."""
    lost = [one for one in verdicts if one.tone == "fail"]
    if lost:
        return _of_loss(lost, verdicts)
    open_ones = [one.place.letter for one in verdicts if one.tone == "open"]
    kept = [one.place.letter for one in verdicts if one.tone == "pass"]
    outages = _of_outages([one.place for one in verdicts if one.place.tally.judged])
    if not kept:
        return "; ".join([*outages, "Nothing was found lost" if not outages else "no loss found"])
    none = "none lost a confirmed message"
    if not outages:
        fine = all(_was_fine(one.place) for one in verdicts)
        none = f"None of them lost a message that it had confirmed{', and none was out' * fine}"
    if open_ones:
        none = f"{listed(kept)} lost none; of {listed(open_ones)} it is not decided"
        none = none if outages else f"Nothing was found lost; {none}"
    return "; ".join([*outages, none])


def sure(compared: Sequence[Place], scenarios: Iterable[str]) -> str:
    """Whether the largest difference of two columns in one scenario is more than chance; "" where
    no column was out."""
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
    told = difference(first, second)
    of = f"{_runs(second)} of {more.letter} against {len(first)} of {less.letter} ({scenario})"
    if told.shown:
        return (
            f"Beyond chance, {more.letter} was out longer than {less.letter}, by {_ends(told)} "
            f"(95 %; {of})."
        )
    few = math.isinf(told.low) and math.isinf(told.high)
    why = "give no interval of 95 %" if few else f"give {_ends(told)}, of 95 %"
    shown = f"{NO_DIFFERENCE[:1].upper()}{NO_DIFFERENCE[1:]}"
    return f"{shown} beyond chance: {of} {why}. What is told here is what these runs did."


def _of_loss(lost: Sequence[VerdictView], verdicts: Sequence[VerdictView]) -> str:
    letters = {
        tone: [one.place.letter for one in verdicts if one.tone == tone]
        for tone in ("fail", "pass", "open")
    }
    if len(lost) <= NAMED_MAX:
        parts = [_guilty(one) for one in lost]
        parts[-1] += " messages that it had confirmed"
    else:
        whose = f"{len(lost)} of {len(verdicts)} lost or stranded messages that they had confirmed"
        parts = [f"{whose} ({listed(letters['fail'])})"]
    if letters["pass"]:
        parts.append(f"{listed(letters['pass'])} lost none")
    if letters["open"]:
        parts.append(f"of {listed(letters['open'])} it is not decided")
    return "; ".join(parts)


def _guilty(one: VerdictView) -> str:
    told = one.place.tally
    done = [f"lost {words.count(told.lost)}"] if told.lost else []
    done += [f"stranded {words.count(told.stranded)}"] if told.stranded else []
    return f"{one.place.name} ({one.place.letter}) {' and '.join(done)}"


def _of_outages(judged: Sequence[Place]) -> list[str]:
    """Longest first; those that were not out, and those of which nobody knows, come last."""
    out = sorted(
        (place for place in judged if is_out(place.tally)),
        key=lambda place: -(place.tally.out.most_s if place.tally.out else 0.0),
    )
    if not out:
        return []
    parts = [f"{out[0].name} ({out[0].letter}) was out for {_time(out[0])}"]
    parts += [
        f"{f'{place.name} (' if number < NAMED_MAX else ''}{place.letter}"
        f"{')' if number < NAMED_MAX else ''} for {_time(place)}"
        for number, place in enumerate(out[1:TOLD_MAX], start=1)
    ]
    if len(out) > TOLD_MAX:
        parts.append(f"{listed([place.letter for place in out[TOLD_MAX:]])} for less")
    never = [place.letter for place in judged if is_fine(place.tally)]
    unknown = [place.letter for place in judged if place not in out and place.letter not in never]
    parts += [f"{listed(never)} not at all"] if never else []
    parts += [f"of {listed(unknown)} nobody knows"] if unknown else []
    return parts


def _time(place: Place) -> str:
    return out_text(place.tally).replace("≥", "at least")


def _was_fine(place: Place) -> bool:
    return bool(place.tally.faults_of) and is_fine(place.tally)


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


def _ends(told: Difference) -> str:
    """`2.10 s to 4.00 s`; an end that so few runs cannot give is open."""
    if math.isinf(told.high):
        return f"at least {_end(told.low)}"
    if math.isinf(told.low):
        return f"at most {_end(told.high)}"
    return f"{_end(told.low)} to {_end(told.high)}"


def _end(seconds: float) -> str:
    return f"{'−' if seconds < 0 else ''}{words.seconds(abs(seconds))}"


def _runs(times: Sequence[Time]) -> str:
    return words.plural(len(times), "run")
