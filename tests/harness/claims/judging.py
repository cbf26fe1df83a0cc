"""What the shipped claims say of a story: for the tests that tell stories to the judge."""

from harness.claims.claims import shipped
from harness.claims.judge import ClaimOutcome, ClaimVerdict, judge
from tests.rigs.runs.findings import Story, verdicts_of

CLAIMS = {claim.name: claim for claim in shipped()}
PASS, FAIL = ClaimOutcome.PASS, ClaimOutcome.FAIL
INCONCLUSIVE, NOT_APPLICABLE = ClaimOutcome.INCONCLUSIVE, ClaimOutcome.NOT_APPLICABLE


RECOVERIES = (
    "last-stopped-starts-first",
    "first-stopped-waits",
    "all-at-once-come-back",
    "first-stopped-can-be-replaced",
    "last-stopped-can-be-replaced",
    "lost-disks-lose-the-queue",
    "restarted-node-discards-its-disk",
)


OF_EVERY_BROKER = (
    "nothing-unexpected",
    "nothing-corrupt",
    "confirmed-is-delivered",
    "confirmed-copy-is-kept",
    "acknowledged-is-not-redelivered",
    "held-is-not-redelivered",
    "unacknowledged-is-redelivered",
    "one-copy",
)

OF_TERMS = ("nothing-early", "rolled-back-stays-unseen", "no-transaction-torn")


def verdict(claim: str, story: Story) -> ClaimVerdict:
    return judge(CLAIMS[claim], story.evidence)


def outcomes(story: Story) -> dict[str, ClaimOutcome]:
    return {one.claim: one.outcome for one in verdicts_of(shipped(), story.evidence)}
