"""Whether RabbitMQ has stopped in a container whose process runs."""

from dataclasses import dataclass
from typing import cast

import pytest

from faults.actions import Start, Stop
from faults.executors.project import Output, Project
from faults.model import Receipt
from harness.systems.rabbitmq.parts import by_application


@dataclass
class Beside:
    """A project in which a command beside the node says this."""

    status: int
    text: str

    def processes(self, place: str) -> list[str]:
        return [place]

    def execute(self, container: str, command: list[str]) -> Output:
        assert command[-1] == "rabbit_boot_state:get()."
        return Output(self.status, self.text, Receipt(0, 1))


def test_rabbitmq_that_reports_itself_stopped_is_ended_and_restarted() -> None:
    found = by_application(cast(Project, Beside(0, "stopped\n")), "rmq2")
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
    assert by_application(cast(Project, Beside(status, text)), "rmq2") is None
