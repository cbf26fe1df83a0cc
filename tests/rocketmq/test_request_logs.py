"""What the Java client asks from its start to its stop, and how it is answered: of our servers as
of the real ones.

A producer's life, and two consumers': one of them is orderly, and one sends back.
"""

import asyncio
import subprocess
from pathlib import Path

import pytest

from harness.workers.clients.jars import class_path
from harness.workers.clients.rocketmq.java import FLAGS
from tests.rigs.rocketmq import clusters
from tests.rigs.rocketmq.launcher import HERE, REFERENCE
from tests.rigs.rocketmq.needs import require_java_clients, require_servers, skip_or_fail

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

REAL, TOPIC, QUEUES = "4.9.7", "orders", 4
SOURCE = Path(__file__).with_name("RequestLog.java")
LIMIT_S = 180.0


def log(kind: str, client: str, folder: Path) -> list[str]:
    """Every sort of request and answer, sorted."""
    with clusters.pair(kind, folder) as cluster:
        asyncio.run(cluster.create_topic(TOPIC, QUEUES))
        (name_server,) = cluster.name_servers
        words = [f"{HERE}:{name_server.port}", TOPIC]
        command = ["java", *FLAGS, f"-Duser.home={folder}", "-cp", ":".join(class_path(client))]
        done = subprocess.run(
            [*command, str(SOURCE), *words], capture_output=True, text=True, timeout=LIMIT_S
        )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line[:1].isdigit() or "asks" in line]


@pytest.mark.parametrize(
    "client", ["rocketmq-java-4.9.0", "rocketmq-java-4.9.8", "rocketmq-java-5.3.3"]
)
def test_the_java_client_sends_and_gets_what_real_servers_exchange(
    client: str, tmp_path: Path
) -> None:
    require_servers(REAL)
    require_java_clients(client)
    modules = subprocess.run(["java", "--list-modules"], capture_output=True, text=True).stdout
    skip_or_fail("" if "jdk.compiler" in modules else "a JDK is needed: a JRE compiles nothing")
    ours, theirs = (log(kind, client, tmp_path / kind) for kind in (REFERENCE, REAL))
    assert len(theirs) > 10
    assert ours == theirs
