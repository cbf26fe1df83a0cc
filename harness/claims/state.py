"""Declared and recorded facts of a run, for claims' preconditions.

1. A fact that was not recorded is unknown, with the reason; it is never assumed.
2. A manifest holds a state as JSON: facts of the run by name, and `windows` by number. Recorded
   facts that stand outside `windows` are those of the first window. `{"not_applicable": why}`
   stands for what makes no sense in this run, `{"at_least": n}` for a number that is only a lower
   bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.claims.values import Interval, NotApplicable, Unknown, Value, at_least, exactly
from harness.plan.facts import DECLARED, OPERATED, Fact
from harness.plan.vocabulary import RECORDED
from spark_analysis.schema.declared import FLOAT_MAX, Listener, brief

Recorded = bool | str | int | float
Known = Recorded | Interval | Unknown | NotApplicable
NOT_RECORDED = "it was not recorded"
NOT_APPLICABLE = "not_applicable"
AT_LEAST = "at_least"
_KINDS = {bool: (bool,), str: (str,), float: (int, float)}
SINCE = {  # what every run had before there was a choice to be recorded
    "client_endpoint": "hosts",
    "promote_on_shutdown": "when-synced",
    "promote_on_failure": "always",
    "elects_by_majority": False,
    "confirm_waits_for_majority": False,
    "progress_kept_by": "brokers",
    "priorities": 0,
    "processing_s": 0.0,
}


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Facts of the run, and facts of each window by its number."""

    run: Mapping[str, Known] = field(default_factory=dict)
    windows: Mapping[int, Mapping[str, Known]] = field(default_factory=dict)

    def value(self, name: str, window: int) -> Value:
        """The fact, of this window where it differs between windows."""
        facts = self.windows.get(window, {}) if name in RECORDED else self.run
        known = facts.get(name, Unknown(f"{name}: {NOT_RECORDED}"))
        if isinstance(known, bool | str | Interval | Unknown | NotApplicable):
            return known
        return exactly(known)

    def lacks(self, name: str) -> bool | Unknown:
        """Return whether the run has none of what a fact counts, such as `consumers`; Unknown if
        that is not on record."""
        number = self.value(name, 0)
        if isinstance(number, Unknown | NotApplicable):
            return number if isinstance(number, Unknown) else True
        if not isinstance(number, Interval):
            return Unknown(f"{name}: {brief(number)} was recorded, and it should be a number")
        if number.low > 0 or number.high == 0:
            return number.high == 0
        return Unknown(f"{name}: only a lower bound was recorded")

    @property
    def slow_consumers(self) -> str:
        """Return why messages may wait for their consumers; "" if these take no time for them."""
        each_s = self.value("processing_s", 0)
        if isinstance(each_s, Interval):
            text = f"consumers take {each_s.low:g} s for each message"
            return f"{text}, so messages may wait for them" if each_s.high else ""
        if isinstance(each_s, NotApplicable):
            return ""
        return "it is not recorded how long consumers take for each message"

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "KnownFacts":
        """`null` is unknown."""
        since = {**SINCE, **_always_elected(document), **_no_ack(document)} if document else {}
        recorded = {**since, **document}
        known = {name: _known(name, v) for name, v in recorded.items() if name != "windows"}
        windows: dict[int, dict[str, Known]] = {
            1: {name: value for name, value in known.items() if name in RECORDED}
        }
        for number, facts in document.get("windows", {}).items():
            own = {name: _known(name, value) for name, value in facts.items()}
            windows.setdefault(int(number), {}).update(own)
        run = {name: value for name, value in known.items() if name not in RECORDED}
        return cls(run, windows)


def _always_elected(document: Mapping[str, Any]) -> dict[str, Recorded]:
    """What was so before there were systems whose mirrors never become masters, and is of them."""
    if document.get("promote_on_failure") == "never":
        return {"elects": False}
    return {
        "elects": True,
        "masters": 1,
        "confirm_waits_for_mirrors": True,
        "confirm_waits_for_disk": True,
    }


def _no_ack(document: Mapping[str, Any]) -> dict[str, bool]:
    """It follows from what was always recorded."""
    consumers, acknowledges = document.get("consumers"), document.get("acknowledges")
    if consumers is None or acknowledges is None:
        return {}
    return {"no_ack": consumers > 0 and not acknowledges}


def _known(name: str, value: Recorded | Mapping[str, Any] | None) -> Known:
    if isinstance(value, Mapping):
        if NOT_APPLICABLE in value:
            return NotApplicable(value[NOT_APPLICABLE])
        return at_least(value[AT_LEAST], doubt="brokers report no more of it")
    return Unknown(f"{name}: {NOT_RECORDED}") if value is None else value


def check(document: Mapping[str, Any], listener: Listener) -> None:
    """Tells of every fact that is not of the type that claims know it by."""
    _check_facts(document, "state", listener)
    windows = document.get("windows", {})
    if not isinstance(windows, Mapping):
        listener.add("state.windows", f"{brief(windows)} is not an object")
        return
    for number, facts in windows.items():
        place = f"state.windows.{number}"
        if not number.isdecimal():
            listener.add(place, "it is not the number of a window")
        if isinstance(facts, Mapping):
            _check_facts(facts, place, listener)
        else:
            listener.add(place, f"{brief(facts)} is not an object")


def _check_facts(facts: Mapping[str, Any], place: str, listener: Listener) -> None:
    for name, value in facts.items():
        fact = DECLARED.get(name) or OPERATED.get(name) or RECORDED.get(name)
        if isinstance(value, Mapping) and name != "windows":
            if not (isinstance(value.get(NOT_APPLICABLE), str) or _is_bound(fact, value)):
                listener.add(
                    f"{place}.{name}", f"{brief(value)} has no reason why it is not applicable"
                )
        elif fact is not None and value is not None and type(value) not in _KINDS[fact.kind]:
            listener.add(f"{place}.{name}", f"{brief(value)} is not {fact.kind.__name__}")
        elif isinstance(value, float | int) and not abs(value) <= FLOAT_MAX:
            listener.add(f"{place}.{name}", f"{brief(value)} is out of range")


def _is_bound(fact: Fact | None, value: Mapping[str, Any]) -> bool:
    """Return whether it is the lower bound of a number, and nothing else."""
    least = value.get(AT_LEAST)
    number = fact is None or fact.kind is float
    return number and value.keys() == {AT_LEAST} and type(least) is int and least >= 0
