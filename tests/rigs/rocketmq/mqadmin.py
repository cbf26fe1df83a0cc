"""RocketMQ's real mqadmin, as a process."""

import subprocess
from pathlib import Path

from harness.workers.clients.jars import jars_folder
from tests.rigs.rocketmq.needs import server_jars

LIMIT_S = 120.0


def mqadmin(version: str, folder: Path, *words: str) -> str:
    """Return what it said; an exception in it is a failure."""
    logging = folder / "conf" / "logback_tools.xml"
    logging.parent.mkdir(exist_ok=True)
    logging.write_text("<configuration/>")
    command = [
        *("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Duser.home={folder}"),
        f"-Drocketmq.home.dir={folder}",
        *("-cp", f"{jars_folder() / server_jars(version)}/*"),
        *("org.apache.rocketmq.tools.command.MQAdminStartup", *words),
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    said = done.stdout + done.stderr
    assert "Exception" not in said, said
    return said
