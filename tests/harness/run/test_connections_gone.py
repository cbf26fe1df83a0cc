"""Waiting for a run's connections to go: what a broker that does not answer means."""

from collections.abc import Sequence

import pytest

from harness.cluster.agent import AgentLost
from harness.cluster.port import DeployError
from harness.run.drain_and_audit import connections_gone
from tests.rigs.machine import virtual_time

SILENT = DeployError("broker-a-0 of rkt1 does not answer: all producers")
LISTED = ("mqproof.r1.consumer-1",)
BY_FORCE_S = 15.0


class Listing:
    """A broker that answers so, one answer a question, and the last one for ever."""

    def __init__(self, answers: Sequence[tuple[str, ...] | DeployError]) -> None:
        self._answers = list(answers)
        self.closed: list[bool] = []

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        assert prefix == "mqproof.r1."
        self.closed.append(close)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, DeployError):
            raise answer
        return answer


def doubt(*answers: tuple[str, ...] | DeployError) -> tuple[str, list[bool]]:
    broker = Listing(answers)
    found = virtual_time.run(connections_gone(broker, "mqproof.r1.", BY_FORCE_S))
    return found, broker.closed


@pytest.mark.parametrize("before", [(SILENT,), (LISTED, SILENT), (SILENT, LISTED)])
def test_a_broker_that_does_not_answer_is_queried_again(
    before: tuple[tuple[str, ...] | DeployError, ...],
) -> None:
    found, closed = doubt(*before, ())
    assert (found, len(closed)) == ("", len(before) + 1)


def test_a_broker_that_never_answers_leaves_the_connections_unknown() -> None:
    found, closed = doubt(SILENT)
    assert found == f"the broker did not say which connections it still has: {SILENT}"
    assert min(closed.count(False), closed.count(True)) > 1


def test_listed_connections_are_closed_and_then_named() -> None:
    found, closed = doubt(LISTED)
    assert found == "the broker still lists mqproof.r1.consumer-1"
    assert True in closed


def test_without_an_agent_no_broker_is_queried_again() -> None:
    found, closed = doubt(AgentLost("its process ended"))
    assert found == "the broker did not say which connections it still has: its process ended"
    assert closed == [False]
