"""Whether RabbitMQ has stopped in a container whose process runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from faults.core.actions import Start, Stop
from harness.systems.rabbitmq.parts import by_application


@dataclass
class Beside:
    """PlaceCommands by which a command beside the node answers this."""

    status: int
    text: str

    def run(self, place: str, command: Sequence[str]) -> tuple[int, str]:
        assert command[-1] == "rabbit_boot_state:get()."
        return self.status, self.text

    def run_instead(self, place: str, script: str, limit_s: float) -> tuple[int, str]:
        raise NotImplementedError


def test_rabbitmq_that_reports_itself_stopped_is_ended_and_restarted() -> None:
    found = by_application(Beside(0, "stopped\n"), "rmq2")
    assert found is not None
    assert found.waits
    assert [type(one) for one in found.start] == [Stop, Start]


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (0, "ready"),
        (0, "booting"),
        (0, "core_started"),
        (69, "nodedown"),
        (124, ""),
        (1, "stopped"),
    ],
)
def test_rabbitmq_that_does_not_say_so_may_live(status: int, text: str) -> None:
    assert by_application(Beside(status, text), "rmq2") is None
