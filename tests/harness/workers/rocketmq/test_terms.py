"""Terms of messages: fates by sequence, and delays by level."""

from itertools import pairwise

import pytest

from harness.plan.clients import rocketmq_table
from harness.plan.clients.rocketmq_terms import (
    FATES,
    NO_DELAY,
    delay_ns,
    fate_of,
    level_of,
    terms_of,
)
from harness.workers.clients.rocketmq.options import (
    LANES_MAX,
    RocketOptions,
    group,
    window,
)
from spark_analysis.schema.words import NO_DUE, Fate


def test_transaction_outcomes_rotate_over_transactional_messages_only() -> None:
    """One in a hundred: taken in turn by sequence, two fates would be one."""
    options = RocketOptions(transactional_percent=1, fates=("commit", "rollback when checked"))
    fates = [fate_of(options, sequence) for sequence in range(300)]
    special = [fate for fate in fates if fate is not Fate.NONE]
    assert special == [Fate.COMMIT, Fate.ROLLBACK_WHEN_CHECKED, Fate.COMMIT]
    assert {fate_of(RocketOptions(), sequence) for sequence in range(100)} == {Fate.NONE}


@pytest.mark.parametrize(("transactional", "delayed"), [(0, 100), (100, 0), (7, 11), (50, 50)])
def test_shares_are_exact_per_hundred_sequences_and_never_overlap(
    transactional: int, delayed: int
) -> None:
    options = RocketOptions(
        transactional_percent=transactional, delayed_percent=delayed, delay_level=2
    )
    for first in (0, 100, 1_000_000):
        hundred = range(first, first + 100)
        fated = {each for each in hundred if fate_of(options, each) is not Fate.NONE}
        late = {each for each in hundred if level_of(options, each) != NO_DELAY}
        assert (len(fated), len(late), fated & late) == (transactional, delayed, set())


def test_special_messages_are_spread_among_the_others() -> None:
    options = RocketOptions(delayed_percent=10)
    late = [each for each in range(100) if level_of(options, each)]
    assert max(after - before for before, after in pairwise(late)) <= 27


@pytest.mark.parametrize(("level", "seconds"), [(0, 0), (1, 1), (5, 60), (17, 3600), (18, 7200)])
def test_delay_level_waits_as_long_as_a_default_broker(level: int, seconds: int) -> None:
    assert delay_ns(level) == seconds * 10**9


def test_a_group_bears_no_letter_that_a_broker_refuses() -> None:
    assert group("mqproof.run.orders", "readers") == "mqproof_run_orders_readers"


def test_only_delayed_or_transactional_messages_have_terms() -> None:
    assert terms_of(RocketOptions(), 3, 100) is None
    late = RocketOptions(delayed_percent=100, delay_level=2)
    assert terms_of(late, 3, 100) == (5 * 10**9 + 100, Fate.NONE)
    transaction = RocketOptions(transactional_percent=100, fates=("commit", "rollback"))
    assert terms_of(transaction, 3, 100) == (NO_DUE, Fate.ROLLBACK)


def test_sends_that_block_are_no_more_than_there_are_threads() -> None:
    assert window(RocketOptions(producer="async"), 1000) == 1000
    assert window(RocketOptions(producer="async", transactional_percent=1), 1000) == LANES_MAX
    assert window(RocketOptions(producer="sync"), 1000) == LANES_MAX
    assert window(RocketOptions(producer="ordered"), 1) == 1


def test_scenario_files_use_the_words_that_workers_know() -> None:
    assert tuple(FATES) == rocketmq_table.FATES
