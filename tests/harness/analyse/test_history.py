"""Somebody else's run as evidence: nothing is assumed of it, and nothing in it is a crash."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.analyse.history import WORDS, evidence, state
from harness.claims import claims
from harness.claims.values import Interval, Unknown, Value, exactly
from harness.histories import neutral
from harness.histories.history import History
from harness.plan.problems import PlanError
from tests.rigs.histories.neutral import S, document
from tests.rigs.runs.findings import verdicts_of

CLAIMS = claims.shipped()


def parsed(changes: dict[str, Any]) -> History:
    loaded = document({"declared": {}, "recorded": {}, **changes})
    return neutral.parse(json.dumps(loaded), "h.json", WORDS)


def test_defaults_of_our_older_runs_do_not_apply_to_others() -> None:
    loaded = state(parsed({"declared": {"copies": 3}}))
    assert loaded.value("copies", 0) == exactly(3)
    for name in ("client_endpoint", "elects", "masters", "promote_on_failure", "no_ack"):
        assert isinstance(loaded.value(name, 0), Unknown), name


def test_facts_derived_from_records_are_known() -> None:
    assert state(parsed({"declared": {"consumers": 1, "acknowledges": False}})).run["no_ack"]
    assert "no_ack" not in state(parsed({"declared": {"consumers": None}})).run


def test_recorded_fact_among_declared_ones_belongs_to_the_first_window() -> None:
    loaded = state(parsed({"declared": {"consumers_cancelled": 2}}))
    assert loaded.value("consumers_cancelled", 1) == exactly(2)


def test_the_reconnect_limit_of_a_client_can_be_set() -> None:
    assert parsed({"declared": {"reconnect_s": 2.5}}).declared == {"reconnect_s": 2.5}


def _places(loaded: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside: list[tuple[Any, Any]] = []
    if isinstance(loaded, dict):
        inside = list(loaded.items())
    elif isinstance(loaded, list):
        inside = list(enumerate(loaded))
    return [path, *(place for key, each in inside for place in _places(each, (*path, key)))]


_WHOLE = document({"declared": {"consumers": 1, "acknowledges": True}})
_PLACES = _places(_WHOLE)[1:]
_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**31, -(2**31), 10**18, -(10**18), 2**63, 0.5, "", "x", [], {}, [1, 1]]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(_PLACES), _JUNK), min_size=1, max_size=3))
def test_any_history_is_judged_or_refused(
    changes: list[tuple[tuple[Any, ...], Any]],
) -> None:
    loaded = deepcopy(_WHOLE)
    for (*path, last), value in changes:
        inside = loaded
        try:
            for step in path:
                inside = inside[step]
            inside[last] = value
        except (KeyError, IndexError, TypeError):
            continue
    outcomes = _judged(json.dumps(loaded))
    assert len(outcomes) in (0, len(CLAIMS))


def _judged(text: str) -> tuple[object, ...]:
    """A verdict a claim; none where the history was refused."""
    try:
        return verdicts_of(CLAIMS, evidence(neutral.parse(text, "h.json", WORDS), "h.json"))
    except PlanError:
        return ()


def starved(**tables: Any) -> Value:
    """A minute in which what is confirmed is given out half a minute later, all at once."""
    times, at = list(range(100)), [n * S // 10 for n in range(100)]
    attempts = {"producer": 1, "sequence": times, "attempt": 1, "queue": "orders", "key": 0}
    attempts |= {"intended_ns": at, "sent_ns": at, "connection": 1, "tag": times, "body_bytes": 9}
    settled = {"producer": 1, "sequence": times, "attempt": 1, "settled_ns": at}
    settled |= {"outcome": "confirmed", "strength": "stored", "raw": "ack", "connection": 1}
    given = {"consumer": 2, "producer": 1, "sequence": times, "attempt": 1, "key": 0}
    given |= {"received_ns": [40 * S] * 100, "sent_ns": at, "queue": "orders", "broker": None}
    given |= {"offset": None, "redelivered": "no", "header_ok": 1, "payload_ok": 1, "run_ok": 1}
    given |= {"via": "load", "connection": 1, "tag": times}
    loaded = {"attempts": attempts, "settlements": settled, "deliveries": given}
    facts = {**document()["facts"], "windows": [], "load_ended_ns": 60 * S}
    changes = {
        "facts": facts,
        "tables": {**{k: {"rows": 100, "columns": v} for k, v in loaded.items()}, **tables},
    }
    return evidence(parsed(changes), "h.json").value("consumer_wait_in_steady_state_s")


def test_waiting_messages_are_withheld_only_from_known_consumers() -> None:
    kinds = {"worker": 2, "kind": "consuming", "at_ns": 0, "connection": 1, "detail": ""}
    attended = starved(client_events={"rows": 1, "columns": kinds})
    text = "40.0 s without a delivery while messages waited (queue orders)"
    assert attended == exactly(40, text)
    unread = starved()
    assert isinstance(unread, Interval)
    assert (unread.low, unread.high) == (0, 40)
    assert str(unread.doubt) == "no record says since when consumers were there"
