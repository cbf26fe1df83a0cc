"""`mqproof-history/2`: one run as JSON, read whole or not at all, and written.

1. Every problem is named with its place; where there is one, nothing is judged.
2. What is not told is unknown: a worker of whom only rows tell did not close its log, and none did
   whose table is left out. A table without rows says that nothing happened.
3. `story`, `explanation` and `must` are for people and for tests; no verdict reads them.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.histories import contradictions
from harness.histories.complaints import Complaints
from harness.histories.declared import read_declared
from harness.histories.facts import read_facts
from harness.histories.files import text_of
from harness.histories.history import Columns, FactValue, History, Words
from harness.histories.looks import borne_out, seen_gone
from harness.histories.tables import read_tables, write_table
from harness.outside.text import brief
from spark_analysis.schema import old_names
from spark_analysis.schema.facts import Facts, QueueEnd, Worker
from spark_analysis.schema.words import LEVELS

FORMAT = "mqproof-history/2"
_KEYS = (
    "format",
    "name",
    "story",
    "explanation",
    "facts",
    "declared",
    "recorded",
    "tables",
    "must",
)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")  # may be one: JSON writes characters so, too
_PUBLISHER, _CONSUMER = "publisher", "consumer"
# The tables without which nothing is known of what a worker did.
_WRITTEN_BY = {_PUBLISHER: {"attempts", "settlements"}, _CONSUMER: {"deliveries"}}


def read(path: Path, words: Words) -> History:
    """The history in that file. Raises PlanError with every problem in it."""
    return parse(text_of(path), str(path), words)


def parse(text: str, file: str, words: Words) -> History:
    complaints = Complaints(file)
    document = _document(text, complaints)
    if not document:
        complaints.check()
    name = document.get("name", Path(file).name.split(".")[0])
    if not isinstance(name, str) or not name:
        complaints.add("name", f"{brief(name)} is not a name")
        name = file
    for key in document:
        if key not in _KEYS:
            complaints.unknown("", "key", key, _KEYS)
    for key in ("facts", "tables"):
        if key not in document:
            complaints.add("", f"{key} is missing")
    facts = read_facts(document["facts"], name, complaints) if "facts" in document else None
    declared = read_declared(document.get("declared", {}), "declared", words.declared, complaints)
    recorded = _recorded(document.get("recorded", {}), facts, words, complaints)
    levels = facts.levels if facts else LEVELS
    ways = facts.ways if facts else ()
    tables = read_tables(document.get("tables", {}), complaints, levels, ways)
    if facts is not None:
        contradictions.of_facts(facts, tables, complaints)
        contradictions.of_declared(facts, declared, complaints)
    if complaints.any:
        contradictions.of_rows(tables, complaints)
    complaints.check()
    assert facts is not None, "facts that cannot be known are a problem"
    facts = _without_tables(_with_unnamed(facts, tables), tables)
    facts = borne_out(facts, tables)
    return History(facts, declared, recorded, seen_gone(facts, tables))


def to_json(history: History) -> dict[str, Any]:
    """The document that `parse` reads as this history."""
    facts = history.facts.to_json()
    levels, ways = history.facts.levels, history.facts.ways
    tables = {
        name: write_table(name, columns, levels, ways) for name, columns in history.tables.items()
    }
    return {
        "format": FORMAT,
        "name": facts["run"],
        "facts": facts,
        "declared": dict(history.declared),
        "recorded": {str(number): dict(content) for number, content in history.recorded.items()},
        "tables": tables,
    }


def _document(text: str, complaints: Complaints) -> Mapping[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """A key that stands there twice hides what it said first."""
        found = dict(pairs)
        if len(found) < len(pairs):
            often = Counter(name for name, _ in pairs)
            for name in sorted(name for name, times in often.items() if times > 1):
                complaints.add("", f"the key {brief(name)} stands twice in one object")
        return found

    def refused(word: str) -> None:
        complaints.add("", f"{word} is no JSON")

    try:
        document = json.loads(text, object_pairs_hook=once, parse_constant=refused)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        complaints.add(
            where, f"this is no JSON: {error.msg} (--from says what it is, if not ours)"
        )
        return {}
    except (ValueError, RecursionError) as error:
        complaints.add("", f"this is no JSON that could be read: {error}")
        return {}
    if _HALF.search(text) and not _is_text(document):
        complaints.add("", "a text in it holds half a character (a surrogate without the other)")
    document = old_names.history(document)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        content = document.get("format") if isinstance(document, dict) else document
        complaints.add("format", f"{brief(content)} is not {FORMAT!r}")
        return {}
    return document


def _is_text(document: object) -> bool:
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _recorded(
    recorded: object, facts: Facts | None, words: Words, complaints: Complaints
) -> dict[int, Mapping[str, FactValue]]:
    if not isinstance(recorded, Mapping):
        complaints.add("recorded", f"{brief(recorded)} is not an object")
        return {}
    windows = {str(window.number): window.number for window in facts.windows} if facts else {}
    known: dict[int, Mapping[str, FactValue]] = {}
    for number, content in recorded.items():
        if number in windows:
            place = f"recorded.{number}"
            known[windows[number]] = read_declared(content, place, words.recorded, complaints)
        elif facts is not None:
            complaints.unknown("recorded", "fault window", number, tuple(windows))
    return known


def _with_unnamed(facts: Facts, tables: Mapping[str, Columns]) -> Facts:
    """Return the facts with the workers that only rows mention. Their logs are not known to be
    closed."""
    named = {worker.number for worker in facts.workers}
    unnamed = tuple(
        Worker(number, role, log_closed=False)
        for number, role in dict(_workers(tables, facts.way_numbers.direct_load)).items()
        if number not in named
    )
    return replace(facts, workers=(*facts.workers, *unnamed)) if unnamed else facts


def _without_tables(facts: Facts, tables: Mapping[str, Columns]) -> Facts:
    """Return the facts with open logs of the workers whose tables the history leaves out, and
    without drains where it has no delivery."""
    absent = {role for role, names in _WRITTEN_BY.items() if names - tables.keys()}
    workers = tuple(
        replace(one, log_closed=one.log_closed and one.role not in absent) for one in facts.workers
    )
    queues = facts.queues
    if _CONSUMER in absent:
        queues = tuple(_undrained(end) for end in queues)
    return replace(facts, workers=workers, queues=queues)


def _undrained(end: QueueEnd) -> QueueEnd:
    reason = end.undrained_reason or "the history has no deliveries"
    return replace(end, drained=False, undrained_reason=reason)


def _workers(tables: Mapping[str, Columns], loads: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the workers of rows. `loads`: the ways of what consumers got while they worked."""
    deliveries = tables.get("deliveries", {})
    consumers = {
        number
        for number, via in zip(
            deliveries.get("consumer", []), deliveries.get("via", []), strict=True
        )
        if via in loads
    }
    producers = set(tables.get("attempts", {}).get("producer", []))
    for numbers, role in ((consumers, _CONSUMER), (producers, _PUBLISHER)):
        yield from ((n, role) for n in sorted(n for n in numbers if isinstance(n, int) and n >= 0))
