"""RocketMQ servers as plain processes, small and on loopback: the real ones as Java's, and ours.
Nothing else starts any.

1. The jars of a version are those of `python -m harness.deploy.jars`.
2. A server lives in a folder of its own; what it logs is its output, as it is in a container.
3. Each is in a session of its own, and none outlives its starter.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.systems.files import compose_folder
from harness.workers.clients.jars import jars_folder
from harness.workers.protocol import Endpoint
from tests.rigs.rocketmq.needs import server_jars

HERE = "127.0.0.1"
REFERENCE = "reference"  # instead of a version of the real ones
ROOT = Path(__file__).parents[3]
STOP_LIMIT_S = 20.0
# A test run that is killed leaves no server behind; a server's pid stays its own.
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
_HOME = compose_folder() / "rocketmq"  # its `conf` says how they log, whatever their version
_NAME_SERVER = ("org.apache.rocketmq.namesrv.NamesrvStartup", "-Xms32m", "-Xmx128m")
_BROKER = (
    "org.apache.rocketmq.broker.BrokerStartup",
    *("-Xms96m", "-Xmx256m", "-XX:MaxDirectMemorySize=256m"),
)
_JVM = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99",
    f"-Drmq.logback.configurationFile={_HOME}/conf/logback.xml",  # RocketMQ 5
)


@dataclass
class Server:
    """One server: a broker, if its settings name one. `process` None: it does not run.

    `hosts`: names that mean this machine to it, and then no others do. `home`: the folder whose
    `conf` it reads in addition to its settings.
    """

    name: str
    version: str
    port: int
    settings: Mapping[str, str]
    folder: Path
    hosts: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = None
    home: Path = _HOME

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.name, HERE, self.port)

    @property
    def is_broker(self) -> bool:
        return "brokerName" in self.settings

    @property
    def is_master(self) -> bool:
        return self.settings.get("brokerId") == "0"

    def start(self) -> None:
        assert self.process is None, self.name
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._output.open("ab") as output:
            self.process = subprocess.Popen(
                (*_ENDS_WITH_US, *self._command()),
                stdout=output,
                stderr=output,
                cwd=self.folder,  # what it says of its paths names no folder of this machine
                env={**os.environ, "ROCKETMQ_HOME": str(self.home), "PYTHONPATH": str(ROOT)},
                start_new_session=True,
            )

    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None, self.name
        self.process.send_signal(number)

    def kill(self) -> None:
        """kill -9, of one that is stopped, too; no error where it does not run."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(STOP_LIMIT_S)
            self.process = None

    def output(self) -> str:
        """Its log, over all its lives."""
        return self._output.read_text()

    @property
    def _output(self) -> Path:
        return self.folder / "output.txt"

    def _command(self) -> tuple[str, ...]:
        file, names = self.folder / "server.conf", self.folder / "hosts"
        file.write_text("".join(f"{key}={value}\n" for key, value in self.settings.items()))
        names.write_text("".join(f"{HERE} {host}\n" for host in self.hosts))
        if self.version == REFERENCE:
            word = "broker" if self.is_broker else "name-server"
            return (sys.executable, "-m", "reference_impl", word, str(file))
        named = (f"-Djdk.net.hosts.file={names}",) if self.hosts else ()
        path = f"{jars_folder() / server_jars(self.version)}/*"
        main, *memory = _BROKER if self.is_broker else _NAME_SERVER
        arguments = (f"-Duser.home={self.folder}", *named, "-cp", path, main, "-c", str(file))
        return ("java", *memory, *_JVM, *arguments)
