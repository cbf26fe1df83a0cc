"""What the shipped claims say of a story: for the tests that tell stories to the judge."""

from harness.analyse.claims import shipped
from harness.analyse.judge import ClaimVerdict, Outcome, judge
from tests.findings import Story

CLAIMS = {claim.name: claim for claim in shipped()}
PASS, FAIL = Outcome.PASS, Outcome.FAIL
INCONCLUSIVE, NOT_APPLICABLE = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE


RECOVERIES = (
    "last-stopped-starts-first",
    "first-stopped-waits",
    "all-at-once-come-back",
    "first-stopped-can-be-replaced",
    "last-stopped-can-be-replaced",
    "nothing-comes-of-no-disk",
    "restarted-node-discards-its-disk",
)


OTHERS = (
    "stop-always-promotes",
    "always-promoting-loses",
    "silent-mirror-is-noticed-late",
    "transient-queue-is-gone",
    "unconfirmed-survive-an-election",
    "no-ack-loses",
    "floating-address-moves",
    "balancer-avoids-dead-nodes",
)

OF_SEVERAL_MASTERS = (
    "confirmed-in-memory-is-kept",
    "other-masters-take-over",
    "order-breaks-at-a-switch",
    "single-master-is-down",
    "broken-links-are-noticed-soon",
    "silent-broker-is-noticed-in-time",
    "silent-name-server-blinds-its-clients",
    "separate-name-servers-help",
    "one-name-server-is-enough",
    "clients-go-on-without-name-servers",
    "silent-name-server-is-bridged",
)

OF_TERMS = ("nothing-early", "rolled-back-stays-unseen", "no-transaction-torn")


def verdict(claim: str, story: Story) -> ClaimVerdict:
    (one,) = judge([CLAIMS[claim]], story.evidence)
    return one


def outcomes(story: Story) -> dict[str, Outcome]:
    return {one.claim: one.outcome for one in judge(shipped(), story.evidence)}
