"""Which native client may be used: one that has its library, and what the two can do."""

import json
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest

from harness.workers.clients.rocketmq import native_found
from harness.workers.clients.rocketmq.native import lack
from harness.workers.clients.rocketmq.native_found import (
    WAYS,
    WITH_LIBRARY,
    WITHOUT_LIBRARY,
    NativeLibrary,
    features,
    refusal,
)
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Role, WorkerConfig
from tests.rigs.workers.rig import config

ROOT = Path(__file__).parents[4]


def test_package_without_its_library_is_refused_with_advice() -> None:
    versions = {"rocketmq-client-python": "2.0.0"}
    reason = refusal(versions, "rocketmq dynamic library not found")
    for part in ("2.0.0 brings no C++ library", "dynamic library not found", "pip install"):
        assert part in reason
    assert refusal(versions) == ""


def test_duplicate_packages_are_refused_and_a_missing_one_gets_advice() -> None:
    both = {"rocketmq": "0.4.4", "rocketmq-client-python": "2.0.0"}
    assert "rocketmq 0.4.4 and rocketmq-client-python 2.0.0 overwrite each other" in refusal(both)
    assert "pip install rocketmq==0.4.4" in refusal({})
    assert refusal({"rocketmq": "0.4.4"}, "libstdc++ missing").endswith("libstdc++ missing")


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ('raise ImportError("rocketmq dynamic library not found")\n', "library not found"),
        ('raise OSError("libz.so: cannot open shared object file")\n', "libz.so: cannot open"),
        # What an older library than its own leads to: a function is bound that it has not.
        ("import ctypes\nctypes.CDLL(None).CreateOrderlyProducer\n", "CreateOrderlyProducer"),
    ],
)
def test_unusable_library_of_this_machine_is_reported_with_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, reason: str
) -> None:
    (tmp_path / "rocketmq").mkdir()
    (tmp_path / "rocketmq" / "__init__.py").touch()
    (tmp_path / "rocketmq" / "ffi.py").write_text(library)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("rocketmq", "rocketmq.ffi"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(native_found, "installed", lambda: {"rocketmq-client-python": "2.0.0"})
    found = native_found.look()
    assert reason in found.refused
    assert "pip install rocketmq==0.4.4" in found.refused
    for name in ("rocketmq", "rocketmq.ffi"):
        sys.modules.pop(name, None)


def test_features_are_those_that_some_way_is_open_to() -> None:
    assert features(lambda way: way.symbol == "SendMessageOrderlyByShardingKey") == ("ordered",)
    assert features(lambda way: True) == tuple(WAYS)


@pytest.mark.parametrize(
    ("role", "options", "missing"),
    [
        (Role.PUBLISHER, RocketOptions(producer="sync"), ""),
        (Role.PUBLISHER, RocketOptions(producer="sync", transactional_percent=1), "transaction"),
        (Role.PUBLISHER, RocketOptions(producer="sync", delayed_percent=1), "delayed"),
        (Role.CONSUMER, RocketOptions(consumer="pull"), "pull"),
    ],
)
def test_a_capability_that_the_library_lacks_is_named(
    tmp_path: Path, role: Role, options: RocketOptions, missing: str
) -> None:
    found = NativeLibrary("rocketmq 0.4.4", "lib.so", ("sync", "concurrent"))
    settings: WorkerConfig = config(role, tmp_path, own=asdict(options))
    reason = lack(found, settings)
    assert reason == (
        f"rocketmq 0.4.4 cannot do {missing}; it can do sync, concurrent" if missing else ""
    )


@pytest.mark.slow
def test_a_package_process_without_the_library_reports_it_as_json(tmp_path: Path) -> None:
    """The 2.0.0 package as pip leaves it where no librocketmq is: its import raises."""
    (tmp_path / "rocketmq").mkdir()
    (tmp_path / "rocketmq" / "__init__.py").touch()
    failing = 'raise ImportError("rocketmq dynamic library not found")\n'
    (tmp_path / "rocketmq" / "ffi.py").write_text(failing)
    about = tmp_path / "rocketmq_client_python-2.0.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: rocketmq-client-python\nVersion: 2.0.0\n")
    code = (
        "import importlib.metadata as m, runpy, sys; real = m.version\n"
        "def version(name):\n"
        "    if name == 'rocketmq': raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.version = version\n"
        "runpy.run_module('harness.workers.clients.rocketmq.native_found', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
    )
    said = json.loads(done.stdout)
    assert said["package"] == "rocketmq-client-python 2.0.0"
    assert "brings no C++ library" in said["refused"]


def test_extras_that_overwrite_each_other_cannot_be_locked_together() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    brings = {
        extra: {re.split(r"[^\w-]", one, maxsplit=1)[0] for one in wanted}
        for extra, wanted in project["project"]["optional-dependencies"].items()
    }
    conflicts = [{one["extra"] for one in group} for group in project["tool"]["uv"]["conflicts"]]
    clashing = [
        {one, other}
        for one, other in product(brings, repeat=2)
        if WITH_LIBRARY in brings[one] and WITHOUT_LIBRARY in brings[other]
    ]
    assert len(clashing) == 2
    assert all(pair in conflicts for pair in clashing)
