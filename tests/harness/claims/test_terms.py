"""Delays and transactions, from the logs of workers to the verdicts of claims."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.claims import terms
from harness.claims.claims import shipped
from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimOutcome
from harness.claims.state import KnownFacts
from harness.plan.vocabulary import COUNTS
from harness.run_folder.manifest import Manifest, WorkerRecord
from harness.run_folder.seal import HARNESS, LOGS, seal
from harness.view.observations import observe
from harness.workers.rocketmq.ways import ROCKETMQ_WAYS
from spark_analysis.engine.judge import judge_folder
from spark_analysis.files.log import LogWriter
from spark_analysis.schema.facts import Facts, QueueEnd
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.tables import ATTEMPTS, DELIVERIES, SETTLEMENTS
from spark_analysis.schema.tables import TERMS as TERMS_TABLE
from spark_analysis.schema.words import NO_DUE, Fate, Redelivered, Strength
from spark_analysis.schema.words import Outcome as Settled
from tests.rigs.histories.ways import Via
from tests.rigs.runs.findings import verdicts_of
from tests.rigs.runs.plans import plan

PUBLISHER, CONSUMER, AUDITOR = 1, 2, 3
SECOND = 1_000_000_000
CLAIMS = ("nothing-early", "rolled-back-stays-unseen", "no-transaction-torn")
FEW = {
    "messages": 3,
    "delayed_messages": 1,
    "messages_in_transactions": 2,
    "messages_to_commit": 1,
    "messages_to_check": 0,
}
ROLES = {PUBLISHER: "publisher", CONSUMER: "consumer", AUDITOR: "auditor"}
Sent = tuple[int, Fate, Settled]  # when it is due, and what was said of it
Came = tuple[int, int, Via]  # sequence, when, by what way


def recorded(folder: Path, sent: Iterable[Sent], came: Iterable[Came]) -> Evidence:
    """What the logs of such a run tell; messages are sent at second 1 and numbered in turn."""
    with LogWriter(folder / LOGS / "publisher-1") as log:
        for sequence, (due_ns, fate, settled) in enumerate(sent):
            log.append(
                ATTEMPTS, PUBLISHER, sequence, 1, "orders", 0, SECOND, SECOND, 1, sequence, 99
            )
            if due_ns != NO_DUE or fate:
                log.append(TERMS_TABLE, PUBLISHER, sequence, 1, due_ns, fate)
            strength = Strength.STORED if settled is Settled.CONFIRMED else Strength.NONE
            log.append(
                SETTLEMENTS, PUBLISHER, sequence, 1, SECOND + 1, settled, strength, "SEND_OK", 1
            )
    for number, via_of in ((CONSUMER, (Via.LOAD, Via.DRAIN)), (AUDITOR, (Via.AUDIT, Via.HALF))):
        with LogWriter(folder / LOGS / f"{ROLES[number]}-1") as log:
            for tag, (sequence, at_ns, via) in enumerate(came):
                row = (number, PUBLISHER, sequence, 1, 0, at_ns, SECOND, "orders", "broker-a/0")
                if via in via_of:
                    log.append(DELIVERIES, *row, tag, Redelivered.NO, 1, 1, 1, via, 1, tag)
    return _evidence(folder)


def _evidence(folder: Path) -> Evidence:
    manifest = Manifest.of(plan())
    manifest.ways = [*ROCKETMQ_WAYS]
    manifest.load_started_ns, manifest.load_ended_ns = 0, 60 * SECOND
    manifest.workers = [WorkerRecord(f"{role}-1", each, role) for each, role in ROLES.items()]
    manifest.queues = [QueueEnd("orders", True, True, "", (), 60 * SECOND)]
    manifest.save(folder)
    LogWriter(folder / LOGS / HARNESS).close()
    sealed = seal(folder)
    assert sealed.facts is not None
    rows = {
        name: tuple(MARTS[name](**row) for row in table.to_pylist())
        for name, table in judge_folder(folder)
        if name in MARTS
    }
    few = KnownFacts.from_json(FEW)  # on purpose
    return Evidence(Findings(**rows), Facts.from_json(sealed.facts), few)


def outcomes(evidence: Evidence) -> list[ClaimOutcome]:
    claims = [claim for claim in shipped() if claim.name in CLAIMS]
    assert [claim.name for claim in claims] == list(CLAIMS)
    return [verdict.outcome for verdict in verdicts_of(claims, evidence)]


DUE = 11 * SECOND
DELAYED = (DUE, Fate.NONE, Settled.CONFIRMED)
COMMITTED = (NO_DUE, Fate.COMMIT, Settled.CONFIRMED)
ROLLED_BACK = (NO_DUE, Fate.ROLLBACK, Settled.REFUSED)
ORDINARY = (NO_DUE, Fate.NONE, Settled.CONFIRMED)
PASS, FAIL, NOT_APPLICABLE = ClaimOutcome.PASS, ClaimOutcome.FAIL, ClaimOutcome.NOT_APPLICABLE


def test_a_run_that_keeps_its_terms_passes(tmp_path: Path) -> None:
    came = [(0, DUE, Via.LOAD), (1, 2 * SECOND, Via.LOAD), (1, 70 * SECOND, Via.HALF)]
    came += [(2, 70 * SECOND, Via.HALF)]
    evidence = recorded(tmp_path, [DELAYED, COMMITTED, ROLLED_BACK], came)
    assert outcomes(evidence) == [PASS, PASS, PASS]
    assert evidence.counted.total("lost") + evidence.counted.total("stranded") == 0


def test_a_run_that_breaks_them_fails(tmp_path: Path) -> None:
    came = [(0, 5 * SECOND, Via.LOAD), (1, 70 * SECOND, Via.HALF), (2, 2 * SECOND, Via.LOAD)]
    evidence = recorded(tmp_path, [DELAYED, COMMITTED, ROLLED_BACK], came)
    assert outcomes(evidence) == [FAIL, FAIL, FAIL]


def test_a_run_without_any_says_nothing_of_them(tmp_path: Path) -> None:
    evidence = recorded(tmp_path, [ORDINARY], [(0, 2 * SECOND, Via.LOAD)])
    assert outcomes(evidence) == [NOT_APPLICABLE, NOT_APPLICABLE, NOT_APPLICABLE]
    names = {one.name for one in observe(evidence)}
    assert not names & {"early", "rolled_back_but_delivered", "torn_transaction"}


@pytest.mark.parametrize("measure", ["early", "rolled_back_but_delivered", "torn_transaction"])
def test_claims_may_speak_of_each_measure(measure: str) -> None:
    assert measure in COUNTS
    assert terms.not_applicable(measure, lambda _, __: 0) is not None
    assert terms.not_applicable(measure, lambda _, __: 1) is None
