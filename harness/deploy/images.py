"""The images that a deployment needs: named by what goes into them, pulled or built when missing.

1. A tag ends in a hash of the build context and its arguments: a change makes another image.
2. An official image is preferred where there is one and the network gives it quickly.
3. A failed build says which image, and shows the last lines that the build wrote.
"""

import hashlib
import shutil
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import docker
from docker.errors import DockerException, ImageNotFound

from harness.cluster.port import DeployError, Progress
from harness.deploy import jars, java_tools, own_clients
from harness.deploy.java_tools import Tools
from harness.deploy.pull import pull
from harness.plan.layouts.jars import JarSet
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout, load_system
from harness.systems.containers import Arguments, Containers, Image
from harness.systems.files import shipped
from harness.systems.registry import registry
from spark_analysis.files.writing import write_whole

BASE = "debian:bookworm-slim"
TOXIPROXY_VERSION = "2.12.0"
_LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class Images:
    """What the parts of a deployment run, as references that the engine has."""

    broker: str
    proxy: str
    worker: str
    balancer: str = ""  # where none is needed


def proxy_image() -> Image:
    return Image(
        "mqproof/toxiproxy",
        TOXIPROXY_VERSION,
        shipped("toxiproxy"),
        "MQPROOF_TOXIPROXY_IMAGE",
        (("TOXIPROXY_VERSION", TOXIPROXY_VERSION),),
        official=f"ghcr.io/shopify/toxiproxy:{TOXIPROXY_VERSION}",
    )


def balancer_image() -> Image:
    return Image("mqproof/balancer", "2.6", shipped("haproxy"), "MQPROOF_BALANCER_IMAGE")


def maven_image() -> Image:
    """What fetches jars where this machine has no Maven or no Java; no cluster needs it."""
    return Image("mqproof/maven", "3.8", shipped("maven"), "MQPROOF_MAVEN_IMAGE")


def in_containers() -> Mapping[str, Containers]:
    """Of every system that runs in them, by its name."""
    every = registry().systems.items()
    return {name: one.containers for name, one in every if one.containers is not None}


def containers_of(system: str) -> Containers:
    """Raises DeployError."""
    found = in_containers()
    if system not in found:
        has = f"{', '.join(found)} do"
        raise DeployError(f"{system} does not run in containers; {has}")
    return found[system]


def ensure(
    client: docker.DockerClient,
    system: str,
    progress: Progress,
    balanced: bool = True,
    layout: Layout | None = None,
    clients: Sequence[str] = (),
) -> Images:
    """What a layout needs, or a system's default one: pulled or built where it is missing. Raises
    DeployError. `clients`: of the load; the worker's image gets the packages that offer
    them, or the system."""
    own = containers_of(system)
    worker = _ensure(client, own.worker_image(), progress)
    return Images(
        broker=_ensure(client, own.image(layout or _default(system)), progress),
        proxy=_ensure(client, proxy_image(), progress),
        worker=_with_packages(client, worker, own_clients.packages_of(clients, system), progress),
        balancer=_ensure(client, balancer_image(), progress) if balanced else "",
    )


def _with_packages(
    client: docker.DockerClient, worker: str, packages: Sequence[str], progress: Progress
) -> str:
    """The worker's image with these packages; the same one without any."""
    if not packages:
        return worker
    with tempfile.TemporaryDirectory(prefix="mqproof-build-") as scratch:
        folder = Path(scratch) / "context"
        own_clients.write_context(folder, worker, packages)
        tag = f"{own_clients.IMAGE}:{fingerprint(folder, ())}"
        if not has(client, tag):
            step = f"building {tag} ({', '.join(packages)})"
            wanted = Image(own_clients.IMAGE, "own", lambda: folder, "MQPROOF_WORKER_IMAGE")
            _build(client, wanted, folder, tag, progress, step=step)
    return tag


def missing(client: docker.DockerClient, *systems: str) -> tuple[str, ...]:
    """What `ensure` would have to pull or build for these systems; for all without."""
    chosen = systems or tuple(in_containers())
    brokers = [containers_of(system).image(_default(system)) for system in chosen]
    workers = [containers_of(system).worker_image() for system in chosen]
    wanted = {one.alias: one for one in (*brokers, proxy_image(), *workers, balancer_image())}
    return tuple(alias for alias, image in wanted.items() if _present(client, image) is None)


def _default(system: str) -> Layout:
    return load_layout(system, load_system(system).default_layout)


def tag_of(image: Image, users: str = "") -> str:
    """`users`: the identifier of the user's image that it is built on."""
    with _context(image) as folder:
        return _tag(image, folder, users)


def _tag(image: Image, folder: Path, users: str) -> str:
    own = (("BASE", users),) if users else ()
    return f"{image.alias}-{fingerprint(folder, (*image.arguments, *own))}"


def fingerprint(folder: Path, arguments: Arguments) -> str:
    """Twelve hex digits of every file's name, mode and content, and of the build arguments."""
    digest = hashlib.sha256(repr((BASE, arguments)).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return digest.hexdigest()[:12]


def _ensure(client: docker.DockerClient, image: Image, progress: Progress) -> str:
    found = _present(client, image)
    if found is not None:
        return found
    if image.official and pull(client, image.official, progress):
        return image.official
    base: Arguments = ()
    if image.users:
        base = (("BASE", image.users),)
    elif image.base is not None:
        base = (("BASE", _ensure(client, image.base, progress)),)
    else:
        _ensure_base(client, progress)
    with _context(image) as folder:
        tag = _tag(image, folder, _users_id(client, image))
        for one in image.jars:
            made = jars.fetch(one, progress, lambda: _tools(client, progress))
            shutil.copytree(made, folder / "jars" / one.name)
            write_whole(_sums_file(one, folder), jars.sums_of(one, made))
        _build(client, image, folder, tag, progress, base)
    client.images.get(tag).tag(image.name, image.version)
    return tag


def _tools(client: docker.DockerClient, progress: Progress) -> Tools:
    """Of this machine if it has them all: it has most of the jars then, too."""
    if java_tools.here():
        return java_tools.Here()
    return java_tools.InContainer(client, _ensure(client, maven_image(), progress))


def _present(client: docker.DockerClient, image: Image) -> str | None:
    names = [image.official] if image.official else []
    own = tag_of(image, _users_id(client, image))
    return next((name for name in [*names, own] if has(client, name)), None)


def _users_id(client: docker.DockerClient, image: Image) -> str:
    """Raises DeployError where the user's image is not there any more."""
    try:
        return str(client.images.get(image.users).id) if image.users else ""
    except ImageNotFound:
        raise DeployError(f"the image {image.users} is not here") from None


def has(client: docker.DockerClient, name: str) -> bool:
    try:
        client.images.get(name)
    except ImageNotFound:
        return False
    return True


def _ensure_base(client: docker.DockerClient, progress: Progress) -> None:
    if has(client, BASE) or pull(client, BASE, progress):
        return
    raise DeployError(
        f"{BASE} is neither here nor could it be pulled; every image is built on it. "
        "Pull it where the network allows, or make it from Debian's packages: `.ci/docker` as root"
    )


@contextmanager
def _context(image: Image) -> Iterator[Path]:
    """The build context; a worker's and the reference's hold this installation's own files too.

    Of jars it has their sums: the jars themselves come when it is built.
    """
    with tempfile.TemporaryDirectory(prefix="mqproof-build-") as scratch:
        folder = Path(scratch) / "context"
        shutil.copytree(image.folder(), folder, ignore=_not_for_the_image)
        if image.sources is not None:
            image.sources(folder)
        for one in image.jars:
            _copy_sums(one, folder)
        yield folder


def _copy_sums(one: JarSet, folder: Path) -> None:
    """Of a set's jars, where they are known before these come, and of our own classes."""
    sums = _sums_file(one, folder)
    sums.parent.mkdir(exist_ok=True)
    if one.lock:
        shutil.copyfile(jars.lock_file(one), sums)
    write_whole(sums.with_suffix(".mark"), jars.fingerprint(one))


def _sums_file(one: JarSet, folder: Path) -> Path:
    return folder / "sums" / f"{one.name}.sha256"


def _not_for_the_image(_folder: str, names: list[str]) -> set[str]:
    """Layouts and the rendered compose file change no image."""
    unwanted = {"layouts", "system.toml", "compose.yaml", "__pycache__"}
    return unwanted.intersection(names)


def _build(
    client: docker.DockerClient,
    image: Image,
    folder: Path,
    tag: str,
    progress: Progress,
    base: Arguments = (),
    step: str = "",
) -> None:
    """`step`: what the build is called; its parts begin with that."""
    step = step or f"building {tag}"
    progress(step)
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        output = client.api.build(
            path=str(folder),
            tag=tag,
            buildargs=dict((*image.arguments, *base)),
            rm=True,
            forcerm=True,
            decode=True,
        )
        for message in output:
            if "error" in message:
                raise DeployError(_failed(tag, message["error"].strip(), last))
            for line in message.get("stream", "").splitlines():
                last.append(line)
                if line.startswith("Step "):
                    progress(f"{step}: {shorten(line, 80)}")
    except (DockerException, OSError) as error:
        raise DeployError(_failed(tag, str(error), last)) from error


def _failed(tag: str, reason: str, last: deque[str]) -> str:
    return "\n".join([f"building {tag} failed: {reason}; its last lines:", *last])
