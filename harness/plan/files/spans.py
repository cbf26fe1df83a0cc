"""Lengths of time as people write them: `10 s`, `250 ms`, `2 min`, `1.5 T, at least 15 s`.

1. A length always names its unit; `T` is the layout's timer (RabbitMQ: net_ticktime).
2. `parse` and `text` undo each other.
3. No length is longer than anybody waits.
"""

import re
from dataclasses import dataclass

from harness.outside.text import brief

FORMS_FIXED = ("10 s", "250 ms", "2 min")
FORMS = (*FORMS_FIXED, "1.5 T", "1.5 T, at least 15 s")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0}
_NUMBER = r"([0-9]{1,12}(?:\.[0-9]{1,12})?)"
TIMERS_MAX = 1000.0
LONGEST_S = 31 * 24 * 3600.0
_PLAIN = re.compile(rf"{_NUMBER} ?(ms|s|min)")
_TIMERS = re.compile(rf"{_NUMBER} ?T(?:, at least (.+))?")


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: seconds, or so many of the layout's timers with a minimum in seconds."""

    seconds: float = 0.0
    timers: float = 0.0

    def resolve_s(self, detection_timeout_s: float) -> float:
        """Seconds: `timers` layout timers, but at least `seconds`."""
        return max(self.seconds, self.timers * detection_timeout_s)


def parse(words: object) -> Duration:
    """The span that `words` say; ValueError says what is wrong with them."""
    if not isinstance(words, str):
        raise ValueError(f"a length of time is a text with a unit, not {brief(words)}")
    if timers := _TIMERS.fullmatch(words.strip()):
        least = _plain(timers[2]) if timers[2] is not None else 0.0
        if float(timers[1]) > TIMERS_MAX:
            raise ValueError(f"{brief(words)} is more than {TIMERS_MAX:g} T")
        return Duration(seconds=least, timers=float(timers[1]))
    return Duration(seconds=_plain(words.strip()))


def parse_seconds(words: object) -> float:
    """Seconds of a length that may not depend on a layout's timer."""
    span = parse(words)
    if span.timers:
        raise ValueError(f"{brief(words)} may not be written in layout timers")
    return span.seconds


def is_positive(words: object) -> bool:
    """Return whether it is a length in plain time over 0; False if it is no length at all."""
    try:
        return parse_seconds(words) > 0
    except ValueError:
        return False


def text(span: Duration) -> str:
    """The span in words that `parse` reads back."""
    if not span.timers:
        return _seconds_text(span.seconds)
    words = f"{span.timers:g} T"
    return f"{words}, at least {_seconds_text(span.seconds)}" if span.seconds else words


def _plain(words: str) -> float:
    match = _PLAIN.fullmatch(words)
    if match is None:
        raise ValueError(f"{brief(words)} is not a length of time")
    # Thousandths are divided, not multiplied: 250 ms is then the same float as 0.25 s.
    number = float(match[1])
    seconds = number / 1000 if match[2] == "ms" else number * _SECONDS[match[2]]
    if seconds > LONGEST_S:
        raise ValueError(f"{brief(words)} is longer than {LONGEST_S / 86400:g} days")
    return seconds


def _seconds_text(seconds: float) -> str:
    milliseconds = seconds * 1000
    if seconds < 1 and seconds > 0 and float(f"{milliseconds:g}") / 1000 == seconds:
        return f"{milliseconds:g} ms"
    number = str(seconds)
    return f"{number.removesuffix('.0')} s"
