"""A real RocketMQ name server and broker as plain Java processes, small and on loopback."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.deploy import jars
from harness.workers.clients.jars import jars_folder

READY_LIMIT_S = 400.0  # two JVMs on a machine that has other things to do
CREATE_TOPIC, CLUSTER_INFO = 17, 106
REQUIRE = "MQPROOF_REQUIRE_ROCKETMQ"
_FLAGS = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
)
_LOGBACK = """<configuration><appender name="file" class="ch.qos.logback.core.FileAppender">
<file>{file}</file><encoder><pattern>%d %p %m%n</pattern></encoder></appender>
<root level="WARN"><appender-ref ref="file"/></root></configuration>"""
_BROKER = """brokerClusterName=DefaultCluster
brokerName=broker-a
brokerId=0
brokerRole=ASYNC_MASTER
flushDiskType=ASYNC_FLUSH
namesrvAddr=127.0.0.1:{name_server}
brokerIP1=127.0.0.1
brokerIP2=127.0.0.1
listenPort={broker}
storePathRootDir={folder}/store
storePathCommitLog={folder}/store/commitlog
mappedFileSizeCommitLog=16777216
mappedFileSizeConsumeQueue=600000
maxIndexNum=40000
maxHashSlotNum=10000
diskMaxUsedSpaceRatio=95
waitTimeMillsInSendQueue=5000
osPageCacheBusyTimeOutMills=5000
autoCreateTopicEnable=false
transactionCheckInterval=5000
"""


def require(*sets: str) -> None:
    """Skips with the reason where jars, Java or JPype lack; where CI promised them, that fails."""
    reason = jars.why_not(*sets)
    if not shutil.which("java"):
        reason = "there is no java; install Java 17 (`apt-get install openjdk-17-jre-headless`)"
    try:
        import jpype  # noqa: F401
    except ImportError:
        reason = "JPype is missing: `pip install 'mqproof[rocketmq-java]'`"
    skip_or_fail(reason)


def skip_or_fail(reason: str) -> None:
    """Skips where something lacks; where CI promised it, that fails. Goes on without a reason."""
    if reason and os.environ.get(REQUIRE):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@contextlib.contextmanager
def servers(version: str, folder: Path) -> Iterator["Servers"]:
    """Ready and with no topics; killed at the end."""
    made = Servers(version, folder)
    try:
        asyncio.run(made.start())
        yield made
    finally:
        for process in made.processes:
            process.kill()
            process.wait()


class Servers:
    def __init__(self, version: str, folder: Path) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        self.name_server, self.broker = _free(0), _free(2)
        self._folder = folder
        self._jars = f"{jars_folder() / f'rocketmq-server-{version}'}/*"

    async def start(self) -> None:
        conf = self._folder / "conf"
        conf.mkdir(parents=True)
        names = ("logback_namesrv", "logback_broker", "rmq.namesrv.logback", "rmq.broker.logback")
        for name in names:
            text = _LOGBACK.format(file=self._folder / f"{name}.log")
            (conf / f"{name}.xml").write_text(text)
        (conf / "namesrv.conf").write_text(f"listenPort={self.name_server}\n")
        ports = {"name_server": self.name_server, "broker": self.broker}
        (conf / "broker.conf").write_text(_BROKER.format(folder=self._folder, **ports))
        self._run("namesrv.NamesrvStartup", conf / "namesrv.conf", "-Xmx128m")
        heap = ("-Xmx256m", "-XX:MaxDirectMemorySize=256m")
        self._run("broker.BrokerStartup", conf / "broker.conf", *heap)
        end_s = time.monotonic() + READY_LIMIT_S
        while b"broker-a" not in await self._listed():
            assert time.monotonic() < end_s, f"no broker in {READY_LIMIT_S} s: {self._folder}"
            await asyncio.sleep(0.2)

    async def create_topic(self, topic: str, queues: int = 4) -> None:
        """Returns when the name server knows it."""
        fields = {"topic": topic, "defaultTopic": "TBW102", "perm": "6", "topicSysFlag": "0"}
        fields |= {"readQueueNums": str(queues), "writeQueueNums": str(queues), "order": "false"}
        await _ask(self.broker, CREATE_TOPIC, fields | {"topicFilterType": "SINGLE_TAG"})
        end_s = time.monotonic() + READY_LIMIT_S
        while topic.encode() not in await _ask(self.name_server, 206, {}):
            assert time.monotonic() < end_s, f"no topic in {READY_LIMIT_S} s"
            await asyncio.sleep(0.1)

    async def _listed(self) -> bytes:
        try:
            return await _ask(self.name_server, CLUSTER_INFO, {})
        except OSError:
            return b""

    def _run(self, main: str, conf: Path, *heap: str) -> None:
        command = ["java", *heap, *_FLAGS, f"-Duser.home={self._folder}", "-cp", self._jars]
        command += [f"org.apache.rocketmq.{main}", "-c", str(conf)]
        with (self._folder / f"{main}.out").open("wb") as out:
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                cwd=self._folder,
                env={**os.environ, "ROCKETMQ_HOME": str(self._folder)},
                start_new_session=True,
            )
        self.processes.append(process)


def _free(reach: int) -> int:
    """A port whose neighbours are free, too: a broker takes its own, the next, and two below."""
    while True:
        with contextlib.ExitStack() as stack:
            first = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = int(first.getsockname()[1])
            try:
                for other in range(port - reach, port + reach + 1):
                    if other != port:
                        stack.enter_context(socket.create_server(("127.0.0.1", other)))
            except OSError:
                continue
            return port


async def _ask(port: int, code: int, fields: dict[str, str]) -> bytes:
    """The body of the answer to one remoting request, which must be a success."""
    request = {"code": code, "language": "JAVA", "version": 409, "opaque": 1, "flag": 0}
    header = json.dumps({**request, "extFields": fields}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(30.0):
            writer.write(struct.pack(">ii", 4 + len(header), len(header)) + header)
            (length,) = struct.unpack(">i", await reader.readexactly(4))
            frame = await reader.readexactly(length)
    finally:
        writer.close()
    size = struct.unpack(">i", frame[:4])[0] & 0xFFFFFF
    answer = json.loads(frame[4 : 4 + size])
    assert answer["code"] == 0, answer
    return frame[4 + size :]
