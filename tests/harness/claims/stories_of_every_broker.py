"""What every broker promises, and what its confirms mean."""

from tests.harness.claims.claim_stories import (
    ALONE,
    NO_ACK,
    NO_CONSUMERS,
    ONE_MIRROR,
    Three,
    dark,
    delayed,
    delayed_in_steady_state,
    denied,
    in_transactions,
    left_open,
    lost,
    not_redelivered,
    out,
    served_in_steady_state,
    story_of,
    unread,
    without_client,
)
from tests.harness.claims.judging import INCONCLUSIVE, NOT_APPLICABLE
from tests.rigs.runs.findings import OF_LOGS

STORIES: dict[str, Three] = {
    "nothing-unexpected": Three(
        story_of,
        lambda: story_of().count("unexpected", "never_sent", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 does not reach the end of the run"),
    ),
    "nothing-corrupt": Three(
        story_of,
        lambda: story_of().count("corrupt", "payload", 1),
        unread,
        (INCONCLUSIVE, "the log of consumer 1 does not reach the end of the run"),
    ),
    "refused-stays-refused": Three(
        denied,
        lambda: denied().count("refused_but_delivered", "refused", 1),
        story_of,
        (NOT_APPLICABLE, "no message is known to be refused or returned"),
    ),
    "confirmed-is-delivered": Three(
        story_of,
        lambda: story_of().count("stranded", "replicated", 1),
        lambda: lost(**NO_ACK),
        (NOT_APPLICABLE, "no_ack == false"),
    ),
    "confirmed-copy-is-kept": Three(
        story_of,
        lambda: story_of().count("attempt_lost", "replicated", 1),
        lambda: story_of(durable=False).count("attempt_lost", "replicated", 1),
        (NOT_APPLICABLE, "keeps == true"),
    ),
    "acknowledged-is-not-redelivered": Three(
        story_of,
        lambda: story_of().count("duplicated", "redelivery_after_ack", 1),
        lambda: story_of(**NO_ACK),
        (NOT_APPLICABLE, "acknowledges == true"),
    ),
    "held-is-not-redelivered": Three(
        story_of,
        lambda: story_of().count("duplicated", "redelivered_without_cause", 1),
        lambda: story_of(**NO_ACK),
        (NOT_APPLICABLE, "acknowledges == true"),
    ),
    "unacknowledged-is-redelivered": Three(
        story_of,
        not_redelivered,
        lambda: story_of().count("not_redelivered_unknown", "drain", 2),
        (INCONCLUSIVE, "2 more were not redelivered"),
    ),
    "one-copy": Three(
        story_of,
        lambda: story_of().count("duplicated", "diverged", 1),
        lambda: story_of().count("duplicated", "ambiguous", 2),
        (INCONCLUSIVE, "2 more are possible"),
    ),
    "nothing-misrouted": Three(
        lambda: story_of().queue("bills"),
        lambda: story_of().queue("bills").count("misrouted", "", 1),
        story_of,
        (NOT_APPLICABLE, "with one queue nothing could be misrouted"),
    ),
    "available-after-fault": Three(
        story_of,
        lambda: story_of().service("out", scope="queue", name="orders", promise="healed"),
        lambda: out(promise="healed", durable=False),
        (NOT_APPLICABLE, "queues_stay == true"),
    ),
    "consumed-after-fault": Three(
        story_of,
        lambda: story_of().starved(5.1, window=1),
        lambda: story_of().starved(11, window=1, due=19),
        (
            INCONCLUSIVE,
            "after the fault had ended, too few messages were confirmed to judge consumers",
        ),
    ),
    "others-are-served-while-a-client-is-gone": Three(
        without_client,
        lambda: without_client().service("out", scope="publisher", name="2"),
        lambda: without_client(others=()),
        (NOT_APPLICABLE, "publishers_left >= 1"),
    ),
    "available-in-steady-state": Three(
        served_in_steady_state,
        lambda: served_in_steady_state().outage(20, 60, "never", scope="queue", name="orders"),
        lambda: served_in_steady_state(operations=1).outage(20, 60, "never"),
        (NOT_APPLICABLE, "operations == 0"),
    ),
    "consumed-in-steady-state": Three(
        served_in_steady_state,
        lambda: served_in_steady_state().starved(5.1),
        lambda: served_in_steady_state(**NO_CONSUMERS).starved(11),
        (NOT_APPLICABLE, "consumers >= 1"),
    ),
    "nothing-early": Three(
        delayed,
        lambda: delayed().count("early", "", 1),
        lambda: delayed().count("early_unknown", "", 4),
        (INCONCLUSIVE, "no more than the clocks are off"),
    ),
    "nothing-overdue": Three(
        delayed_in_steady_state,
        lambda: delayed_in_steady_state(1),
        lambda: delayed_in_steady_state(93, starved_s=20),  # its consumer was not there yet
        (NOT_APPLICABLE, "consumer_wait_in_steady_state_s <= 5"),
    ),
    "rolled-back-stays-unseen": Three(
        lambda: in_transactions("rollback"),
        lambda: in_transactions("rollback").count("rolled_back_but_delivered", "rollback", 1),
        lambda: in_transactions("rollback").count("rollback_unknown", "rollback", 1),
        (INCONCLUSIVE, "the broker may not have got the rollback"),
    ),
    "no-transaction-torn": Three(
        lambda: in_transactions("commit"),
        lambda: in_transactions("commit").count("torn_transaction", "stored", 1),
        lambda: in_transactions("rollback"),
        (NOT_APPLICABLE, "no transaction was to be committed"),
    ),
    "open-transaction-is-checked": Three(
        left_open,
        lambda: left_open().count("unchecked", "", 1),
        lambda: left_open().count("unchecked_unknown", "", 1),
        (INCONCLUSIVE, "the end of their producer"),
    ),
    "confirmed-is-on-disk": Three(
        dark,
        lambda: dark(1),
        lambda: lost(1, **ALONE),
        (NOT_APPLICABLE, "page_cache_lost == true"),
    ),
    "confirmed-is-on-all-mirrors": Three(
        lambda: story_of(**ONE_MIRROR),
        lambda: lost(1),
        story_of,
        (NOT_APPLICABLE, "a run reads only the one of the 2 mirrors that takes over"),
    ),
    "confirmed-in-memory-is-kept": Three(
        lambda: story_of(**OF_LOGS),
        lambda: story_of(**OF_LOGS).count("lost", "buffered", 1),
        lambda: dark(1, **OF_LOGS),
        (NOT_APPLICABLE, "page_cache_lost == false"),
    ),
}
