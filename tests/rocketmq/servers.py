"""Real RocketMQ servers as plain Java processes, in a folder and on ports of their own.

1. The jars of a version are the set `rocketmq-server-<version>` (harness.deploy.jars); or
   MQPROOF_ROCKETMQ names a folder that holds `server-<version>/*.jar`, as
   `mvn dependency:copy-dependencies -DoutputDirectory=server-<version>` puts them there.
2. Everything listens on 127.0.0.1, from PORT_BASE on; each server is in a session of its own.
3. Every wait has a deadline; whoever enters `cluster` finds nothing left of it afterwards.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.workers.clients.jars import jars_folder
from harness.workers.protocol import Endpoint
from harness.workers.remoting import answers, requests
from harness.workers.remoting.routes import NOWHERE, View
from harness.workers.rocketmq.connection import Connection, Unanswered

VARIABLE = "MQPROOF_ROCKETMQ"
VERSIONS = ("4.9.7", "5.3.3")
PORT_BASE = 30000
READY_LIMIT_S = 400.0  # five JVMs on a machine that has other things to do
STOP_LIMIT_S = 20.0
ASK_LIMIT_S = 3.0
# A test run that is killed leaves no server behind; a server's pid stays its own.
ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
_OPENED = (
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
)
_LOGBACK = """<configuration>
<appender name="file" class="ch.qos.logback.core.FileAppender"><file>{folder}/server.log</file>
<encoder><pattern>%date{{yyyy-MM-dd HH:mm:ss.SSS}} %level %logger{{0}} - %msg%n</pattern></encoder>
</appender><root level="INFO"><appender-ref ref="file"/></root></configuration>
"""
_LOGBACK_FILES = ("logback_namesrv.xml", "logback_broker.xml", "logback.xml")


def jars(version: str) -> Path | None:
    """The folder of a version's jars, where there is one."""
    root = os.environ.get(VARIABLE, "")
    own = Path(root) / f"server-{version}"
    folder = own if root else jars_folder() / f"rocketmq-server-{version}"
    return folder if any(folder.glob("*.jar")) else None


def why_not(version: str) -> str:
    """Why this version cannot be run here; "" where it can."""
    if shutil.which("java") is None:
        return "there is no java; Debian's openjdk-17-jre-headless has it"
    if jars(version) is None:
        return (
            f"jars are missing: `python -m harness.deploy.jars rocketmq-server-{version}`, or a "
            f"folder with server-{version}/*.jar that ${VARIABLE} names"
        )
    return ""


@dataclass
class Server:
    """One JVM. `process` None: it does not run."""

    name: str
    port: int
    command: tuple[str, ...]
    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.name, "127.0.0.1", self.port)

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def start(self) -> None:
        assert self.process is None, self.name
        with (self.folder / "output.txt").open("ab") as output:
            self.process = subprocess.Popen(
                (*ENDS_WITH_US, *self.command),
                stdout=output,
                stderr=output,
                cwd=self.folder,  # what it says of its paths names no folder of this machine
                env={**os.environ, "ROCKETMQ_HOME": str(self.folder)},
                start_new_session=True,
            )

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None, self.name
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9, of one that is stopped, too; no error where it does not run."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(STOP_LIMIT_S)
            self.process = None


@dataclass
class Cluster:
    """Two name servers, a master with a slave (broker-a) and a master alone (broker-b)."""

    version: str
    servers: dict[str, Server] = field(default_factory=dict)

    @property
    def name_servers(self) -> tuple[Server, ...]:
        return self.servers["ns1"], self.servers["ns2"]

    def __getitem__(self, name: str) -> Server:
        return self.servers[name]


@contextlib.asynccontextmanager
async def cluster(
    version: str, folder: Path, name_server: Mapping[str, str] | None = None
) -> AsyncIterator[Cluster]:
    """Ready, with its brokers on both name servers. `name_server`: more of its configuration."""
    made = _cluster(version, folder, dict(name_server or {}))
    try:
        for server in made.servers.values():
            server.start()
        ports = {one.port for one in made.servers.values() if one.name.startswith("broker")}
        for server in made.name_servers:
            await shown(server, ports)
        yield made
    finally:
        for server in made.servers.values():
            server.kill()


async def shown(name_server: Server, ports: set[int]) -> View:
    """Waits until a name server shows brokers on exactly these ports."""
    view = NOWHERE
    try:
        async with asyncio.timeout(READY_LIMIT_S):
            while _ports(view) != ports:
                await asyncio.sleep(0.2)
                view = await _view(name_server)
    except TimeoutError:
        raise AssertionError(f"{name_server.name} shows {view}, wanted {sorted(ports)}") from None
    return view


async def _view(name_server: Server) -> View:
    try:
        connection = await Connection.connect(name_server.endpoint, ASK_LIMIT_S)
    except Unanswered:
        return NOWHERE
    try:
        request = requests.cluster_info()
        return answers.cluster(request, await connection.ask(request, ASK_LIMIT_S))
    except Unanswered:
        return NOWHERE
    finally:
        connection.close()


def _ports(view: View) -> set[int]:
    return {int(one.address.rpartition(":")[2]) for one in view.brokers}


def _cluster(version: str, folder: Path, name_server: dict[str, str]) -> Cluster:
    made = Cluster(version)
    for number, name in enumerate(("ns1", "ns2")):
        port = PORT_BASE + number
        conf = {"listenPort": str(port), **name_server}
        heap = ("-Xms32m", "-Xmx128m")
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        made.servers[name] = _server(version, folder / name, port, conf, heap, main)
    brokers = (("broker-a", 0, 110), ("broker-a", 1, 120), ("broker-b", 0, 210))
    for broker, number, offset in brokers:
        name, port = f"{broker}-{number}", PORT_BASE + offset
        conf = _broker(broker, number, port)
        heap = ("-Xms96m", "-Xmx256m", "-XX:MaxDirectMemorySize=256m")
        main = "org.apache.rocketmq.broker.BrokerStartup"
        made.servers[name] = _server(version, folder / name, port, conf, heap, main)
    return made


def _server(
    version: str, folder: Path, port: int, conf: dict[str, str], heap: tuple[str, ...], main: str
) -> Server:
    (folder / "conf").mkdir(parents=True)
    for name in _LOGBACK_FILES:
        (folder / "conf" / name).write_text(_LOGBACK.format(folder=folder))
    file = folder / "server.conf"
    file.write_text("".join(f"{key}={value}\n" for key, value in conf.items()))
    options = (*heap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *_OPENED)
    where = (
        f"-Duser.home={folder}",
        f"-Drmq.logback.configurationFile={folder}/conf/{_LOGBACK_FILES[-1]}",  # RocketMQ 5
        "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    )
    command = ("java", *options, *where, "-cp", f"{jars(version)}/*", main, "-c", str(file))
    return Server(folder.name, port, command, folder)


def _broker(name: str, number: int, port: int) -> dict[str, str]:
    return {
        "brokerClusterName": "DefaultCluster",
        "brokerName": name,
        "brokerId": str(number),
        "brokerRole": "SLAVE" if number else "ASYNC_MASTER",
        "flushDiskType": "ASYNC_FLUSH",
        "namesrvAddr": f"127.0.0.1:{PORT_BASE};127.0.0.1:{PORT_BASE + 1}",
        "brokerIP1": "127.0.0.1",
        "brokerIP2": "127.0.0.1",
        "listenPort": str(port),
        "storePathRootDir": "store",
        "storePathCommitLog": "store/commitlog",
        "mappedFileSizeCommitLog": "16777216",
        "mappedFileSizeConsumeQueue": "600000",
        "maxIndexNum": "40000",
        "maxHashSlotNum": "10000",
        "diskMaxUsedSpaceRatio": "95",
        "waitTimeMillsInSendQueue": "5000",
        "registerNameServerPeriod": "10000",
        "autoCreateTopicEnable": "false",
        "autoCreateSubscriptionGroup": "true",
        "transactionCheckInterval": "5000",  # the topic of halves is not there before the first
    }
