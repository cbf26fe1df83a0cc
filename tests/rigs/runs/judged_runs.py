"""Whole runs for pages: a history written by hand, written to a folder, judged without Spark.

1. What a test does not mention is well: the master's host is killed at +12 s for 15 s, is seen to
   be dead and back, and every message is confirmed and delivered.
2. The manifest says what a real one says: roles, plan, versions, how the workers ended.
3. Claims and expectations are few and their own, so that a new claim changes no page of a test.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.analyse.judged_run import JudgedRun
from harness.claims.claims import Claim, read_claims
from harness.compare.expectations import read_expectations
from harness.judging.assemble import compare, evidence_of, read_raw, run_report
from harness.judging.result import Report, RunReport
from harness.plan.model import Cell
from harness.run_folder.manifest import Manifest, WorkerRecord
from harness.view.summary import summary
from spark_analysis.schema.facts import Facts
from tests.oracle.costs import costs
from tests.oracle.judge import judge
from tests.oracle.sends import sends
from tests.oracle.views import views
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.runs.findings import DECLARED, RECORDED, Story, verdicts_of
from tests.rigs.runs.reports import CELL, report, run
from tests.rigs.runs.run_folders import write_run

MEANING = "What was confirmed is never lost."
SENTENCE = "确认过的消息不会丢失"
CLAIMS = read_claims(
    f"""
[[claim]]
name = "confirmed-stays"
sentence = "{SENTENCE}"
meaning = "{MEANING}"
source = "an article"
precondition = ["confirms == true"]
quantifier = "all"
predicate = ["lost == 0"]

[[claim]]
name = "never-silent"
sentence = "Publishers never wait for a confirm."
source = "a brochure"
precondition = ["fault_kind == kill"]
quantifier = "all"
predicate = ["silence_s <= 0.1"]

[[claim]]
name = "nothing-corrupt"
sentence = "What is delivered is what was sent."
source = "a manual"
quantifier = "all"
predicate = ["corrupt == 0"]

[[claim]]
name = "survives-hangs"
sentence = "A link that hangs is left for another."
source = "a manual"
precondition = ["fault_kind == hang"]
quantifier = "all"
predicate = ["sustained_success == true"]
""",
    "claims of pages",
)
WARNING = """
[[claim]]
name = "waits-forever"
sentence = "Its consumers wait forever."
source = "an article"
quantifier = "all"
predicate = ["consumers_resumed == false"]
warns = true
"""
KNOWN = read_expectations(
    """
[[cell]]
scenario = "master-crash"
system = "rabbitmq-mirrored"
layout = "all-automatic@*"
why = "a promotion takes longer"

[cell.claims]
confirmed-stays = "PASS"
never-silent = "FAIL"
nothing-corrupt = "PASS"
""",
    "expectations of pages",
    [claim.name for claim in CLAIMS],
)
TITLE = "The master of the queue is killed, and returns"
FAULT_MS, UNDO_MS = 12_000, 27_000
PROMOTION_MS = 290  # so long nothing is confirmed
LATE_MS = 4_000  # beyond any deadline


def crash(
    *,
    lost: Iterable[int] = (),
    every_ms: float = 50,
    until_ms: float = 40_000,
    late: Iterable[tuple[float, float]] = (),
) -> History:
    """A paced load around a crash of the master; the messages in `lost` are never delivered, those
    sent within `late` (in ms) are confirmed too late."""
    gone = set(lost)
    history = History(load_ms=(0, until_ms)).window(
        FAULT_MS, returned_ms=FAULT_MS + 20, ended_ms=UNDO_MS
    )
    tag = 0
    for number in range(int(until_ms / every_ms)):
        at_ms = number * every_ms
        confirmed_ms = at_ms + 2
        if FAULT_MS <= at_ms < FAULT_MS + PROMOTION_MS:
            confirmed_ms = FAULT_MS + PROMOTION_MS + (at_ms - FAULT_MS) / every_ms
        if any(first <= at_ms < last for first, last in late):
            confirmed_ms = at_ms + LATE_MS
        history.publish(number, at_ms=at_ms).confirm(number, at_ms=confirmed_ms)
        if number not in gone:
            tag += 1
            history.deliver(number, at_ms=confirmed_ms + 0.25)
            history.acknowledge(tag, at_ms=confirmed_ms + 0.5)
    history.client_event("connecting", at_ms=0, worker=PUBLISHER)
    history.rows["client_events"][-1]["detail"] = "rmq1"
    history.rows["faults"] = [_fault(*event) for event in _FAULT_EVENTS]
    return history


def judged_run(
    folder: Path,
    history: History,
    *,
    cell: Cell = CELL,
    repeat: int = 1,
    **changes: object,
) -> RunReport:
    """The run in `folder`, judged. `changes`: of the manifest."""
    facts, rows = history.build()
    names = dict(zip(("scenario", "system", "layout", "client"), cell, strict=True))
    facts = replace(facts, run=folder.name, repeat=repeat, **names)
    write_run(folder, facts, rows)
    manifest, findings = manifest_of(facts, **changes), judge(facts, rows)
    beside = costs(facts, rows), views(facts, rows), sends(facts, rows)
    return report_of(JudgedRun(folder, manifest, facts, findings, *beside), CLAIMS)


def report_of(run: JudgedRun, claims: Iterable[Claim]) -> RunReport:
    """The report of a run by these claims."""
    raw = read_raw(run)
    evidence = evidence_of(run, raw)
    return run_report(run, raw, evidence, verdicts_of(claims, evidence))


def summed(story: Story, **changes: object) -> RunReport:
    """A run of marts written by hand, judged by the claims of pages."""
    verdicts = verdicts_of(CLAIMS, story.evidence)
    return run(story, **{"verdicts": verdicts, "summary": summary(story.evidence), **changes})


def page_of(*runs: RunReport, **changes: object) -> Report:
    """A report of these runs, held against the expectations of pages."""
    return report(*runs, **{"cells": compare(runs, KNOWN), **changes})


def manifest_of(facts: Facts, **changes: object) -> Manifest:
    window = {"number": 1, "opens_s": 12.0, "lasts_s": 15.0}
    window["fault"] = {"kind": "kill", "target": "master of orders"}
    parts: dict[str, object] = {
        "run": facts.run,
        "run_number": 1,
        "scenario": facts.scenario,
        "system": facts.system,
        "layout": facts.layout,
        "client": facts.client,
        "deployment": "compose",
        "repeat": facts.repeat,
        "seed": 7,
        "scenario_source": f'title = "{TITLE}"\n',
        "schedule": {"windows": [window]},
        "deadline_ns": facts.deadline_ns,
        "paced": facts.paced,
        "confirms": facts.confirms,
        "versions": {"rabbitmq": "3.10.8"},
        "state": {**DECLARED, **RECORDED},
        "phases_ns": {"baseline": 0, "windows": ns(FAULT_MS), "recovery": ns(UNDO_MS)},
        "workers": [
            WorkerRecord("publisher-1", PUBLISHER, "publisher", 0, True),
            WorkerRecord("consumer-1", CONSUMER, "consumer", 0, True),
        ],
    }
    return Manifest(**(parts | changes))  # type: ignore[arg-type]


_FAULT_EVENTS = (
    ("issued", FAULT_MS, ""),
    ("returned", FAULT_MS + 20, ""),
    ("verified", FAULT_MS + 40, "the process ended with exit code 137 (SIGKILL)"),
    ("undo_issued", UNDO_MS - 100, ""),
    ("undo_returned", UNDO_MS, ""),
    ("gone", UNDO_MS + 7_000, "the process runs, answers and is listed"),
)


def _fault(event: str, at_ms: float, detail: str) -> dict[str, int | str | None]:
    return {
        "window": 1,
        "event": event,
        "at_ns": ns(at_ms),
        "kind": "kill",
        "target": "master of orders",
        "resolved": "rmq1",
        "role": "master of orders (2 mirrors, 2 synchronised)",
        "mechanism": "container",
        "ok": 1,
        "detail": detail,
    }
