"""Which hosts operations took down and started again, as claims ask of it."""

from typing import Any

from harness.run.core.stopping import NOBODY_WAITED, NOT_STARTED, Stopping

S = 1_000_000_000
HOSTS = ("a", "b", "c")


def stopped(*deeds: str) -> Stopping:
    """Every word is a deed: the hosts that it stops."""
    stopping = Stopping(HOSTS)
    for number, deed in enumerate(deeds, start=1):
        for host in deed:
            stopping.stop(host, number)
    return stopping


def started(stopping: Stopping, **at_s: float) -> dict[str, Any]:
    for host, seconds in at_s.items():
        stopping.start(host, round(seconds * S))
    return stopping.facts()


def test_duration_runs_from_the_first_start_to_the_last() -> None:
    facts = started(stopped("a", "b", "c"), c=10, a=11, b=14.5)
    assert (facts["started_first"], facts["started_within_s"]) == ("last stopped", 4.5)
    assert (facts["waited_for_last_s"], facts["gave_up_waiting"]) == (0.0, NOBODY_WAITED)


def test_first_started_host_waits_until_the_last_is_started() -> None:
    facts = started(stopped("a", "b", "c"), a=10, c=52, b=60)
    assert (facts["started_first"], facts["waited_for_last_s"]) == ("first stopped", 42.0)
    assert facts["gave_up_waiting"] is None, "no probe ran"


def test_only_the_start_of_the_last_one_ends_the_wait() -> None:
    stopping = stopped("a", "b", "c")
    assert stopping.waiting("c") == "", "no host was started"
    stopping.start("a", 10 * S)
    assert (stopping.waiting("b"), stopping.waiting("c")) == ("", "a")
    stopping.waited(ended=True)
    stopping.start("c", 52 * S)
    assert stopping.waiting("c") == ""
    assert stopping.facts()["gave_up_waiting"] is True


def test_host_never_started_again_makes_the_time_not_applicable() -> None:
    facts = started(stopped("abc"), a=10, b=12)
    assert (facts["all_stopped"], facts["started_within_s"]) == ("at once", NOT_STARTED)
    assert facts["waited_for_last_s"] == NOT_STARTED


def test_one_stopped_host_is_no_stop_of_all() -> None:
    facts = started(stopped("a"), a=10)
    assert (facts["all_stopped"], facts["started_within_s"]) == ("none", NOT_STARTED)
