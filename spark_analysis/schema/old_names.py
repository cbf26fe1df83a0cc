"""Names that records had before format 2, what marts did not hold before format 3, and the ways of
deliveries of before systems declared theirs: converted on read. No other module knows them.

1. Each function takes a document as it was parsed and returns it with the names of today. It
   changes nothing in place: digests are of the document as it was written.
2. A document of another form, or as it is written today, is returned as it is. Its reader reports
   what is wrong with it.
3. `RENAMED` is what users see: tests/conformance/renamed.json holds the same.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from spark_analysis.schema.declared import parsed
from spark_analysis.schema.tables import TABLES
from spark_analysis.schema.words import UnverifiedCause

CLAIMS = {
    "a-switch-delays-what-waits": "dead-master-delays-messages",
    "a-switch-keeps-order": "switch-keeps-order",
    "a-switch-keeps-what-waits": "switch-keeps-delayed-messages",
    "acknowledged-hence-not-again": "acknowledged-is-not-redelivered",
    "calm-hence-consumed": "consumed-in-steady-state",
    "calm-hence-served": "available-in-steady-state",
    "confirmed-hence-delivered": "confirmed-is-delivered",
    "healed-hence-consumed": "consumed-after-fault",
    "healed-hence-served": "available-after-fault",
    "held-hence-not-again": "held-is-not-redelivered",
    "host-list-goes-on": "host-list-fails-over",
    "in-sync-hence-not-lost": "in-sync-is-not-lost",
    "joint-hang-blinds-apart-too": "separate-hosts-may-fall-silent-too",
    "minority-is-not-missed": "minority-failure-is-tolerated",
    "mirror-failure-harms-nobody": "mirror-failure-affects-own-clients",
    "nothing-comes-of-no-disk": "lost-disks-lose-the-queue",
    "one-of-three-is-not-missed": "one-failure-of-three-is-tolerated",
    "open-transaction-is-asked-about": "open-transaction-is-checked",
    "silent-name-server-blinds-its-clients": "silent-name-server-hides-failures",
    "silent-name-server-is-bridged": "old-routes-work-on",
    "steady-state-is-consumed": "consumed-in-steady-state",
    "steady-state-is-served": "available-in-steady-state",
    "told-consumer-is-cancelled": "notified-consumer-is-cancelled",
    "unacknowledged-hence-again": "unacknowledged-is-redelivered",
    "untold-consumer-waits-forever": "unnotified-consumer-waits-forever",
}
MEASURES = {
    "forgotten": "not_redelivered",
    "forgotten_unknown": "not_redelivered_unknown",
    "out_longest": "longest_downtime",
    "out_total": "total_downtime",
    "unasked": "unchecked",
    "unasked_unknown": "unchecked_unknown",
}
WORDS = {  # details of measures, and enumerations in histories
    "commit_when_asked": "commit_when_checked",
    "not_told": "not_reported",
    "rollback_when_asked": "rollback_when_checked",
}
FACTS = {
    "asks_within_ns": "checks_within_ns",
    "clock_doubt": "clock_problem",
    "rivals": "competing_leaders",
    "upheavals": "leadership_changes",
}
STATE = {  # of a run and its windows: what preconditions ask for
    "asks_within_s": "checks_within_s",
    "consumers_entered_at_target": "consumers_connected_to_target",
    "entrance": "client_endpoint",
    "forgotten": "node_removed",
    "messages_to_ask": "messages_to_check",
    "moot": "not_applicable",
    "name_servers_struck": "name_servers_hit",
    "node_forgotten": "node_removed",
    "publishers_entered_at_target": "publishers_connected_to_target",
    "routes_told_meanwhile": "routes_served_meanwhile",
    "timer_s": "detection_timeout_s",
}
VERDICT = {  # keys of verdict.json beside measures and claims
    "asked": "name_server",
    "asked_from_ns": "requested_from_ns",
    "asked_ns": "requested_ns",
    "asked_until_ns": "requested_until_ns",
    "out_runs": "downtime_runs",
    "out_worst_scope": "worst_downtime_scope",
    "timer_s": "detection_timeout_s",
}
OF_USERS = {  # names in files that people wrote for older versions: refused, with these
    **CLAIMS,
    "commit when asked": "commit when checked",
    "consumers_enter": "consumer_endpoint",
    "entrance": "client_endpoint",
    "master-crash-told": "master-crash-notified",
    "publishers_enter": "publisher_endpoint",
    "rollback when asked": "rollback when checked",
    "served_once_healed": "available_after_fault",
    "serves_after_notice": "available_after_notice",
    "serves_after_poll": "available_after_poll",
    "serves_on": "available_during_fault",
    "starved_in_steady_state_s": "consumer_wait_in_steady_state_s",
    "starved_once_healed_s": "consumer_wait_after_fault_s",
    "whole_at_fault": "all_copies_at_fault",
}
# Before systems declared their ways, every run could have these (`Facts.ways`).
WAYS: tuple[Mapping[str, Any], ...] = (
    {
        "number": 4,
        "label": "retry_topic",
        "by": "load",
        "text": "delivered by the retry topic to",
        "again": True,
        "uncommitted": False,
    },
    {
        "number": 5,
        "label": "half",
        "by": "audit",
        "text": "found by the audit as the half of a transaction, read by",
        "again": False,
        "uncommitted": True,
    },
)
# Marts of before format 3 do not count the messages that could have shown these.
UNCOUNTED = ("attempt_lost", "not_redelivered")
_MARTS = {"asked": "queries", "calm": "steady_state", "charges": "attributions"}
_RECORDS = {  # of lists in facts and manifests: `doubt` had another meaning in each
    "clocks": {"doubt": "problem"},
    "queues": {"doubt": "undrained_reason"},
    "windows": {"doubt": "unverified_reason", "nature": "properties"},
    "workers": {"doubt": "failure"},
}
_COLUMNS = {"owed": "recovered_by"}
_VALUES = {"measure": MEASURES, "detail": {**WORDS, **MEASURES}}
_CSV = {"told": "reasons"}
_HISTORY = {"truth": "explanation"}
RENAMED = {**CLAIMS, **MEASURES, **WORDS, **FACTS, **_HISTORY} | {
    old: new for old, new in STATE.items() if old != "forgotten"
}

_OF_WINDOW = re.compile(r"window (\d+): (\S+) (.*)")  # number, kind and target of a fault
_OF_ENDPOINT = " enter"  # "publishers enter" -> where
# What the reasons of unverified faults say, of all versions.
_NO_LEADER = "no host says that it is the "  # master, or leader
_NEVER_BEGAN = ("never began: ", "never opened: ")
_NOT_PREPARED = "could not be prepared"
_TOO_SHORT = ("shorter than a check", "its window was shorter than a look")
_EMPTY = {
    name: {"rows": 0, "columns": {column: [] for column in TABLES[name].names}}
    for name in ("attempts", "settlements", "deliveries")
}
_HISTORY_FORMATS = "mqproof-history/1", "mqproof-history/2"
_FIRST = re.compile(r'"version"\s*:\s*1\b')
Document = Mapping[str, Any]


def manifest(document: Any) -> Any:
    """Return a run's manifest. `scenario_source` stays: it is the user's own file."""
    if not (isinstance(document, Mapping) and document.get("format") in (1, 2)):
        return document
    recorded = {**document}
    if document["format"] == 1:
        recorded = {**_facts(document), "format": 2}
        if isinstance(recorded.get("state"), Mapping):
            recorded["state"] = _state(recorded["state"])
    if isinstance(recorded.get("facts"), Mapping):
        recorded["facts"] = facts(recorded["facts"])
    return _with_targets(_with_causes(_with_ways(recorded)))


def facts(document: Any) -> Any:
    """Return the facts of a run: a part of its manifest."""
    if not (isinstance(document, Mapping) and document.get("format") in (1, 2)):
        return document
    if document["format"] == 1:
        document = {**_facts(document), "format": 2}
    return _with_causes(_with_ways(document))


def history(document: Any) -> Any:
    """Return a neutral history (`mqproof-history/1`, or one whose facts declare no ways)."""
    if not isinstance(document, Mapping) or document.get("format") not in _HISTORY_FORMATS:
        return document
    if document["format"] == _HISTORY_FORMATS[0]:
        document = _history(document)
    if isinstance(document.get("facts"), Mapping):
        document = {**document, "facts": _with_causes(_with_ways(document["facts"]))}
    return document


def _history(document: Document) -> dict[str, Any]:
    found = {**_keys(document, _HISTORY), "format": _HISTORY_FORMATS[1]}
    for name, convert in (
        ("facts", _facts),
        ("declared", _state),
        ("recorded", _state),
        ("tables", _tables),
    ):
        if isinstance(found.get(name), Mapping):
            found[name] = convert(found[name])
    return found


def marts(document: Any) -> Any:
    """Return the marts of a packed experiment. Manifests stay as they are: see `manifest`."""
    if not (isinstance(document, Mapping) and document.get("version") in (1, 2)):
        return document
    convert = _body if document["version"] == 1 else _uncounted
    runs = [{**run, "body": run["body"] and convert(run["body"])} for run in document["runs"]]
    return {**document, "version": 3, "runs": runs}


def verdict(text: str) -> str:
    """Return the text of a verdict.json. Claims were renamed within a version, too."""
    return _claims(_converted(text, lambda document: _verdict(document)))


def night(text: str) -> str:
    """Return the text of a night.json, likewise."""
    converted = _converted(text, lambda document: _deep(document, MEASURES, {"what"}))
    return _claims(converted)


def campaign_columns(names: list[str]) -> list[str]:
    """Return the columns of a CSV of runs."""
    return [_CSV.get(name, name) for name in names]


def campaign_row(row: Mapping[str, str]) -> dict[str, str]:
    """Return a row of such a CSV, whose cells are claims with blanks between, or JSON by claim."""
    return {name: _PATTERN.sub(lambda found: CLAIMS[found[0]], said) for name, said in row.items()}


_PATTERN = re.compile(rf"(?<![\w-])(?:{'|'.join(CLAIMS)})(?![\w-])")
_QUOTED = re.compile(rf'(?<=")(?:{"|".join(CLAIMS)})(?=")')


def _claims(text: str) -> str:
    """Return JSON whose keys and strings that are names of claims are today's."""
    return _QUOTED.sub(lambda found: CLAIMS[found[0]], text)


def _converted(text: str, convert: Callable[[Any], Any]) -> str:
    if not _FIRST.search(text):
        return text
    try:
        document = parsed(text)
    except ValueError:
        return text
    if not isinstance(document, dict) or document.get("version") != 1:
        return text
    return json.dumps({**convert(document), "version": 2}, ensure_ascii=False)


def _verdict(document: Document) -> Any:
    return _deep(document, {**MEASURES, **VERDICT}, {"claim", "measure", "detail"})


def _body(body: Document) -> dict[str, Any]:
    found = {_MARTS.get(name, name): _columns(mart) for name, mart in body["marts"].items()}
    return _uncounted({**body, "marts": found, "words": _state(body["words"])})


def _uncounted(body: Document) -> dict[str, Any]:
    return {**body, "uncounted": [*UNCOUNTED]}


def _columns(mart: Document) -> dict[str, Any]:
    """Return a mart, which lies column by column."""
    return {
        _COLUMNS.get(name, name): [_VALUES[name].get(one, one) for one in values]
        if name in _VALUES
        else values
        for name, values in mart.items()
    }


def _tables(tables: Document) -> dict[str, Any]:
    """Return the raw tables of a history: a column is a list, or one value for all rows. In its
    first format a table that is left out had no rows; today nothing is known of it."""
    return {**_EMPTY, **{name: _table(table) for name, table in tables.items()}}


def _table(table: Any) -> Any:
    if not (isinstance(table, Mapping) and isinstance(table.get("columns"), Mapping)):
        return table
    columns = dict(table["columns"])
    for name in columns.keys() & {"fate", "redelivered"}:
        columns[name] = _values(columns[name])
    return {**table, "columns": columns}


def _values(column: Any) -> Any:
    if isinstance(column, list):
        return [_values(one) for one in column]
    return WORDS.get(column, column) if isinstance(column, str) else column


def _facts(document: Document) -> dict[str, Any]:
    """Return facts, or a manifest, whose lists of records have the same names."""
    found = _keys(document, FACTS)
    for name, names in _RECORDS.items():
        if isinstance(records := found.get(name), list):
            found[name] = [
                _keys(one, names) if isinstance(one, Mapping) else one for one in records
            ]
    return found


def _with_ways(document: Document) -> Document:
    """Return facts, or a manifest, with the ways of runs that declare none."""
    if "ways" in document:
        return document
    return {**document, "ways": [{**way} for way in WAYS]}


def _with_causes(document: Document) -> Document:
    """Return facts, or a manifest, whose windows have the cause of an unverified fault. Those of
    before have it in the words of the reason."""
    if not isinstance(windows := document.get("windows"), list):
        return document
    return {**document, "windows": [_with_cause(one) for one in windows]}


def _with_cause(window: Any) -> Any:
    reason = window.get("unverified_reason") if isinstance(window, Mapping) else None
    if not isinstance(reason, str) or "unverified_cause" in window:
        return window
    return {**window, "unverified_cause": _cause_in(reason).value}


def _cause_in(reason: str) -> UnverifiedCause:
    if _NO_LEADER in reason:
        return UnverifiedCause.NO_LEADER
    if reason.startswith(_NEVER_BEGAN) and _NOT_PREPARED not in reason:
        return UnverifiedCause.NEVER_BEGAN
    short = any(words in reason for words in _TOO_SHORT)
    return UnverifiedCause.TOO_SHORT if short else UnverifiedCause.OTHER


def _with_targets(document: Document) -> Document:
    """Return a manifest with typed targets; those of before said in words what they were of."""
    resolved = document.get("resolved")
    if not isinstance(resolved, Mapping):
        return document
    endpoints, targets = {}, []
    for words, places in resolved.items():
        if found := _OF_WINDOW.fullmatch(words):
            window, kind, target = found.groups()
            targets.append(
                {"window": int(window), "kind": kind, "target": target, "places": places}
            )
        elif words.endswith(_OF_ENDPOINT):
            endpoints[words.removesuffix(_OF_ENDPOINT)] = places
    rest = {name: value for name, value in document.items() if name != "resolved"}
    return {**rest, "endpoints": endpoints, "targets": targets}


def _keys(document: Document, names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in document.items()}


def _state(document: Any) -> Any:
    return _deep(document, STATE, set())


def _deep(document: Any, names: Mapping[str, str], of_values: set[str]) -> Any:
    """Rename keys at every depth, and values of the keys `of_values`."""
    if isinstance(document, list):
        return [_deep(one, names, of_values) for one in document]
    if not isinstance(document, dict):
        return document
    return {
        names.get(key, key): names.get(value, value)
        if key in of_values and isinstance(value, str)
        else _deep(value, names, of_values)
        for key, value in document.items()
    }
