"""Terms of messages: fates by sequence, and delays by level."""

import pytest

from harness.workers.clients.rocketmq.options import LANES_MAX, RocketOptions, group, window
from harness.workers.clients.rocketmq.terms import delay_ns, fate_of, terms_of
from spark_analysis.schema.words import NO_DUE, Fate


def test_fates_go_round_by_sequence_and_only_transactions_have_one() -> None:
    options = RocketOptions(producer="transaction", fates=("commit", "rollback when asked"))
    fates = [fate_of(options, sequence) for sequence in range(3)]
    assert fates == [Fate.COMMIT, Fate.ROLLBACK_WHEN_ASKED, Fate.COMMIT]
    assert fate_of(RocketOptions(producer="async"), 1) is Fate.NONE


@pytest.mark.parametrize(("level", "seconds"), [(0, 0), (1, 1), (5, 60), (17, 3600), (18, 7200)])
def test_a_level_waits_as_long_as_a_default_broker_lets_it(level: int, seconds: int) -> None:
    assert delay_ns(level) == seconds * 10**9


def test_a_group_bears_no_letter_that_a_broker_refuses() -> None:
    assert group("mqproof.run.orders", "readers") == "mqproof_run_orders_readers"


def test_only_what_is_delayed_or_part_of_a_transaction_has_terms() -> None:
    assert terms_of(RocketOptions(), 3, 100) is None
    assert terms_of(RocketOptions(delay_level=2), 3, 100) == (5 * 10**9 + 100, Fate.NONE)
    transaction = RocketOptions(producer="transaction", fates=("commit", "rollback"))
    assert terms_of(transaction, 3, 100) == (NO_DUE, Fate.ROLLBACK)


def test_sends_that_block_are_no_more_than_there_are_threads() -> None:
    assert window(RocketOptions(producer="async"), 1000) == 1000
    assert window(RocketOptions(producer="sync"), 1000) == LANES_MAX
    assert window(RocketOptions(producer="ordered"), 1) == 1
