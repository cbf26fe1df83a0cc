"""rocketmq-client-python 2.0.0, unmodified: its own folder, its shim, and what it then does."""

import asyncio
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from harness.deploy.doctor import client_row
from harness.plan.clients.rocketmq import CLIENT_PYTHON
from harness.systems.files import compose_folder
from harness.systems.rocketmq import client_python as made_by
from harness.workers.clients.rocketmq import client_python
from harness.workers.clients.rocketmq.native import NoNative
from harness.workers.clients.rocketmq.native_found import WITH_LIBRARY
from harness.workers.protocol import Role
from tests.rigs.rocketmq import clusters
from tests.rigs.rocketmq.needs import require_client
from tests.rigs.rocketmq.reference import in_process
from tests.rigs.workers import rig

SOURCES = compose_folder() / "worker-rocketmq" / "client-python"
# Statements of the package's own API, as its README has them.
PROGRAM = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from rocketmq.client import Message, Producer, PushConsumer, TransactionMQProducer, ConsumeStatus
from rocketmq.exceptions import NullPointerException

def message(text):
    made = Message("orders")
    made.set_body(text)
    return made

sender = Producer("senders")
sender.set_name_server_address(sys.argv[2])
sender.start()
print("sync", sender.send_sync(message("sync")).status.name)
ordered = Producer("ordered", orderly=True)
ordered.set_name_server_address(sys.argv[2])
ordered.start()
for number in range(3):
    result = ordered.send_orderly_with_sharding_key(message(f"ordered{number}"), "key")
    print("ordered", result.status.name)
try:
    TransactionMQProducer("transactions", lambda _: None)
    print("transaction made")
except NullPointerException:
    print("transaction refused")
came, all_came = [], threading.Event()

def take(received):
    came.append((received.queue_id, received.queue_offset, received.body.decode()))
    if len({text for *_, text in came}) == 4:
        all_came.set()
    return ConsumeStatus.CONSUME_SUCCESS

reader = PushConsumer("readers")
reader.set_name_server_address(sys.argv[2])
reader.subscribe("orders", take)
reader.start()
print("consumed", all_came.wait(60))
keyed = sorted(one for one in set(came) if one[2].startswith("ordered"))
print("queues", len({queue for queue, *_ in keyed}), [text for *_, text in keyed])
reader.shutdown(), sender.shutdown(), ordered.shutdown()
"""
SAID = """sync OK
ordered OK
ordered OK
ordered OK
transaction refused
consumed True
queues 1 ['ordered0', 'ordered1', 'ordered2']
"""


@pytest.mark.slow
def test_the_unmodified_package_sends_orders_and_consumes(tmp_path: Path) -> None:
    require_client(CLIENT_PYTHON.name)
    assert _differing(client_python.folder()) == []
    name_server, other, broker = (clusters._free(reach) for reach in (0, 0, 2))

    async def play() -> str:
        async with in_process(tmp_path, (name_server, other, broker)):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", PROGRAM),
                *(str(client_python.folder()), f"127.0.0.1:{name_server}"),
                stdout=subprocess.PIPE,
                env={**os.environ, "HOME": str(tmp_path)},
            )
            try:
                said, _ = await asyncio.wait_for(process.communicate(), 120)
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            return said.decode()

    assert asyncio.run(play()) == SAID


def _differing(place: Path) -> list[str]:
    """Return the files of the package that pip recorded otherwise; the shim lies beside them."""
    (record,) = place.glob("rocketmq_client_python-*.dist-info/RECORD")
    sums = dict(re.findall(r"^(rocketmq/\w+\.py),sha256=([\w-]+),", record.read_text(), re.M))
    assert sums.keys() >= {"rocketmq/client.py", "rocketmq/ffi.py"}
    return [
        name
        for name, recorded in sums.items()
        if recorded != _urlsafe(hashlib.sha256((place / name).read_bytes()).digest())
    ]


def _urlsafe(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@pytest.mark.slow
def test_client_python_is_found_beside_its_namesake(tmp_path: Path) -> None:
    """This environment has `rocketmq` 0.4.4: a worker of this client imports 2.0.0."""
    require_client(CLIENT_PYTHON.name)
    assert metadata.version(WITH_LIBRARY)
    program = (
        "from harness.workers.clients.rocketmq import client_python; found = client_python.look();"
        "import rocketmq; print(found.refused, found.features, rocketmq.__file__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HOME": str(tmp_path), client_python.FOLDER: _folder()},
    )
    assert "'sync', 'oneway', 'ordered', 'delayed', 'concurrent', 'orderly'" in done.stdout
    assert _folder() in done.stdout


def _folder() -> str:
    return str(client_python.folder())


def test_incomplete_folder_reports_its_missing_parts_and_their_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(client_python.FOLDER, str(tmp_path))
    (tmp_path / "rocketmq").mkdir()
    (tmp_path / "rocketmq" / "ffi.py").touch()
    found = client_python.look()
    assert "lacks the shim (rocketmq/librocketmq.so), the C++ library" in found.refused
    row = client_row("rocketmq-client-python", {"package": "", "refused": found.refused}, True)
    assert "python -m harness.systems.rocketmq.client_python" in row.remedy
    assert not row.ok and row.optional


def test_a_worker_on_this_machine_looks_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver gives the C++ library another HOME, for its logs."""
    for name in (client_python.FOLDER, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    settings = rig.config(Role.CONSUMER, tmp_path, client=CLIENT_PYTHON.name)
    with pytest.raises(NoNative, match=re.escape(f"{tmp_path}/user/.cache/mqproof/")):
        client_python.PythonClient(settings)


@pytest.mark.parametrize(
    ("machine", "compiler", "reason"),
    [
        ("aarch64", "/usr/bin/gcc", "is for Linux on x86_64, not linux on aarch64"),
        ("x86_64", None, "gcc is missing; install it"),
    ],
)
def test_missing_build_tools_are_reported_before_any_download(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    machine: str,
    compiler: str | None,
    reason: str,
) -> None:
    monkeypatch.setenv(client_python.FOLDER, str(tmp_path / "none"))
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(shutil, "which", lambda _: compiler)
    assert made_by.main([]) == 1
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_failed_build_leaves_no_folder_and_shows_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "files" / "worker-rocketmq" / "client-python" / "build.sh"
    script.parent.mkdir(parents=True)
    script.write_text("mkdir -p $1/rocketmq; echo no network; exit 3\n")
    target = tmp_path / "cache" / "made"
    monkeypatch.setenv(client_python.FOLDER, str(target))
    monkeypatch.setattr(made_by, "compose_folder", lambda: tmp_path / "files")
    monkeypatch.setattr(made_by, "_require_tools", lambda: None)
    assert made_by.main([]) == 1
    assert "failed with status 3:\nno network" in capsys.readouterr().err
    assert [one.name for one in target.parent.iterdir() if "made" in one.name] == []
    assert made_by.main(["--check"]) == 1


def test_shim_defines_exactly_what_the_library_is_declared_to_lack() -> None:
    source = (SOURCES / "shim.c").read_text()
    defined = set(re.findall(r"^(?:void \*|int )([A-Z]\w+)\([^;]*?\)\n\{", source, re.M))
    assert defined == {
        "CreateOrderlyProducer",
        "SendMessageOrderlyByShardingKey",
        "CreateTransactionProducer",
        "SendMessageTransaction",
    }
    assert "SendMessageTransaction" in CLIENT_PYTHON.why_not("transaction")
