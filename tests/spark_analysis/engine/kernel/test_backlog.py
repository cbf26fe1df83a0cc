import numpy as np

from spark_analysis.engine.kernel.times.stages import Backlog

WAITING = Backlog(np.array([10, 20, 30]), np.array([15, 40, 35]))


def test_a_backlog_is_drained_when_its_last_late_message_came() -> None:
    assert WAITING.drained_ns(resumed_ns=5, returned_ns=5, limit_ns=100) == 40
    assert WAITING.drained_ns(resumed_ns=5, returned_ns=5, limit_ns=15) == 15


def test_a_backlog_drains_only_after_consumers_resumed() -> None:
    assert WAITING.drained_ns(resumed_ns=60, returned_ns=5, limit_ns=100) == 60


def test_messages_before_the_fault_do_not_delay_the_backlog() -> None:
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=15, limit_ns=19) == 17


def test_a_message_late_exactly_at_the_limit_is_not_late() -> None:
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=20) == 17
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=21) is None
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=39) is None
    assert WAITING.drained_ns(resumed_ns=17, returned_ns=16, limit_ns=40) == 40


def test_a_fault_active_after_its_limit_has_no_drained_backlog() -> None:
    assert WAITING.drained_ns(resumed_ns=50, returned_ns=51, limit_ns=50) is None
