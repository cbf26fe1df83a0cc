"""What systems declare to be said at their service ports: the agent can import and send it."""

from pathlib import Path

import pytest

from faults.executors.service_ports import Greeter, ServicePorts
from harness.systems.catalogue import load_layout
from harness.systems.files import copy_worker_sources
from harness.systems.rabbitmq.core.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.rocketmq.core.service_ports import service_ports_of
from harness.workers.loading import loaded

LOGS = service_ports_of(load_layout("rocketmq-2m2s", "colocated").hosts)
EVERY = pytest.mark.parametrize(
    "service_ports", [RABBITMQ_SERVICE_PORTS, LOGS], ids=["queues", "logs"]
)


def code_of(service_ports: ServicePorts) -> list[str]:
    texts = [service_ports.canaries] if service_ports.canaries else []
    return [
        *texts,
        *([service_ports.hello.by] if isinstance(service_ports.hello, Greeter) else []),
    ]


@EVERY
def test_modules_that_the_agent_imports_are_in_its_image(
    service_ports: ServicePorts, tmp_path: Path
) -> None:
    copy_worker_sources(tmp_path)
    for text in code_of(service_ports):
        assert callable(loaded(text))
        module = text.partition(":")[0].replace(".", "/")
        assert (tmp_path / f"{module}.py").is_file()


@EVERY
def test_names_stand_for_bytes_and_peer_probes_begin_no_greeting(
    service_ports: ServicePorts,
) -> None:
    greets = service_ports.greeting.arguments.values()
    assert service_ports.peer_word
    for text in (*greets, service_ports.peer_word):
        assert text.encode("latin-1").decode("latin-1") == text
    assert not any(text.startswith(service_ports.peer_word) for text in greets)
