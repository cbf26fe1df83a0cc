"""The image of workers and the agent with other packages: ours, and those on top of it.

1. Each package comes from where it was installed from (PEP 610): a wheel or a source archive is
   copied, a folder is built into a wheel here, and one from an index is installed by its version.
2. pip in the image installs what they depend on, in the versions that are installed here.
3. mqproof itself counts as installed there. The image has what a worker imports of it, and no
   more: a client's constructor imports nothing of `harness.plan` (docs/extending.md).
4. The tag has a hash of the base image's tag and of all that is installed: a change makes another.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from importlib.metadata import Distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.cluster.port import DeployError
from harness.plan.clients.client_options import name_of
from harness.plan.clients.registry import registry
from harness.systems.registry import registry as registry_of_systems

IMAGE = "mqproof/worker-own"
_BUILD_LIMIT_S = 300.0
_LAST_LINES = 15
_OURS = "mqproof"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DOCKERFILE = """FROM {base}
COPY packages /opt/mqproof-packages
RUN site=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') \\
 && cp -r /opt/mqproof-packages/mqproof-{version}.dist-info "$site" \\
 && pip install --no-cache-dir --disable-pip-version-check \\
      --requirement /opt/mqproof-packages/requirements.txt \\
      --constraint /opt/mqproof-packages/constraints.txt \\
 && chmod -R a+rX "$site"
"""


def packages_of(clients: Iterable[str], system: str) -> tuple[str, ...]:
    """Return the distributions that offer these clients and this system, each once, sorted.

    A system's package has the calls that the agent imports. Of mqproof's own there is none.
    """
    offered, systems = registry().packages, registry_of_systems().packages
    found = [offered[name] for name in map(name_of, clients) if name in offered]
    found += [systems[system]] if system in systems else []
    return tuple(sorted({package.split()[0] for package in found}))


def write_context(folder: Path, base: str, packages: Iterable[str]) -> None:
    """Write the build context of an image on top of `base`. Raises DeployError."""
    chosen = [_distribution(name) for name in packages]
    place = folder / "packages"
    place.mkdir(parents=True)
    wanted = [_requirement(one, place) for one in chosen]
    pins = _pins(chosen)
    (place / "requirements.txt").write_text("".join(f"{line}\n" for line in wanted))
    (place / "constraints.txt").write_text("".join(f"{n}=={v}\n" for n, v in pins.items()))
    about = place / f"{_OURS}-{metadata.version(_OURS)}.dist-info"
    about.mkdir()
    version = metadata.version(_OURS)
    text = f"Metadata-Version: 2.1\nName: {_OURS}\nVersion: {version}\n"
    (about / "METADATA").write_text(text)
    (folder / "Dockerfile").write_text(_DOCKERFILE.format(base=base, version=version))


def _distribution(name: str) -> Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError as error:
        raise DeployError(f"the package {name} is not installed here") from error


def _requirement(one: Distribution, place: Path) -> str:
    """What pip in the image is to install; a file is put into `place`."""
    direct_url = one.read_text("direct_url.json")
    if direct_url is None:
        return f"{one.name}=={one.version}"
    url = str(json.loads(direct_url)["url"])
    if not url.startswith("file:"):
        return f"{one.name} @ {url}"
    source = Path(unquote(urlsplit(url).path))
    if not source.exists():
        raise DeployError(
            f"{one.name} {one.version} was installed from {source}, which is not there any more; "
            "install it from a folder, a wheel or an index that is"
        )
    made = _wheel(source, place) if source.is_dir() else Path(shutil.copy(source, place))
    return f"/opt/mqproof-packages/{made.name}"


def _wheel(source: Path, place: Path) -> Path:
    """Build a folder's wheel into `place`."""
    before = set(place.iterdir())
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--wheel-dir", str(place), str(source)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeployError(f"no wheel could be built of {source}: {error}") from error
    made = [path for path in place.iterdir() if path not in before]
    if done.returncode or len(made) != 1:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-_LAST_LINES:])
        raise DeployError(f"no wheel could be built of {source}:\n{last}")
    return made[0]


def _pins(chosen: Iterable[Distribution]) -> Mapping[str, str]:
    """Installed version by name of all that these packages depend on, directly or not."""
    known = {one.name.lower() for one in chosen} | {_OURS}
    pins: dict[str, str] = {}
    left = [name for one in chosen for name in _depends(one)]
    while left:
        name = left.pop()
        if name.lower() in known:
            continue
        known.add(name.lower())
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of an extra, or of another platform
        pins[found.name] = found.version
        left += _depends(found)
    return dict(sorted(pins.items()))


def _depends(one: Distribution) -> Iterator[str]:
    for line in one.requires or ():
        if "extra ==" not in line and (name := _NAME.match(line)):
            yield name[0]
