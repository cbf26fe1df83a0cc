import numpy as np

from spark_analysis.engine.kernel.backlog import Backlog

WAITING = Backlog(np.array([10, 20, 30]), np.array([15, 40, 35]))


def test_it_is_drained_when_the_last_that_waited_too_long_came() -> None:
    assert WAITING.drained_ns(resumed_ns=5, returned_ns=5, limit_ns=100) == 40
    assert WAITING.drained_ns(resumed_ns=5, returned_ns=5, limit_ns=15) == 15


def test_it_is_not_drained_before_consumers_resumed() -> None:
    assert WAITING.drained_ns(resumed_ns=60, returned_ns=5, limit_ns=100) == 60


def test_what_came_before_the_fault_was_in_force_says_nothing() -> None:
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=15, limit_ns=19) == 17


def test_what_begins_to_wait_too_long_at_the_limit_does_not_wait_too_long_there() -> None:
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=20) == 17
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=21) is None
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=39) is None
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=40) == 40


def test_a_fault_that_was_in_force_only_after_its_time_is_not_drained() -> None:
    assert WAITING.drained_ns(resumed_ns=50, returned_ns=51, limit_ns=50) is None
