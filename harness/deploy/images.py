"""The images that a deployment needs: named by what goes into them, pulled or built when missing.

1. A tag ends in a hash of the build context and its arguments: a change makes another image.
2. An official image is preferred where there is one and the network gives it quickly.
3. A failed build says which image, and shows the last lines that the build wrote.
"""

import hashlib
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from textwrap import shorten

import docker
from docker.errors import DockerException, ImageNotFound

from harness.cluster.port import DeployError, Progress
from harness.deploy import jars, java_tools
from harness.deploy.java_tools import Tools
from harness.deploy.pull import pull
from harness.plan.clients.registry import of_family
from harness.plan.clients.rocketmq import ROCKETMQ
from harness.plan.model import Layout
from harness.systems.files import compose_folder, copy_reference_sources, copy_worker_sources
from harness.systems.rocketmq.layout import VERSIONS, RocketMq

BASE = "debian:bookworm-slim"
TOXIPROXY_VERSION = "2.12.0"
_LAST_LINES = 15


@dataclass(frozen=True, slots=True)
class Image:
    """How an image is made: its folder below compose/, arguments, and the official one if any.

    `jars`: the sets of jars.SETS that lie in its build context; what they must be is in the tag.
    """

    name: str
    version: str
    folder: str
    arguments: tuple[tuple[str, str], ...] = ()
    official: str = ""
    jars: tuple[str, ...] = ()

    @property
    def alias(self) -> str:
        """The tag without the hash, which the committed compose files name."""
        return f"{self.name}:{self.version}"


@dataclass(frozen=True, slots=True)
class Images:
    """What the parts of a deployment run, as references that the engine has."""

    broker: str
    proxy: str
    worker: str
    balancer: str = ""  # where none is needed


def rabbitmq_image() -> Image:
    return Image("mqproof/rabbitmq", "3.10.8", "rabbitmq-mirrored")


def reference_image() -> Image:
    """Our own files, with no version but their hash, and packages as they are installed here."""
    packages = ("h11", "msgspec")
    return Image("mqproof/reference", "mirrored", "reference-mirrored", _versions(packages))


def rocketmq_image(version: str = VERSIONS[0]) -> Image:
    """Debian's Java, and unmodified jars of one version."""
    return Image(
        "mqproof/rocketmq", version, "rocketmq-2m2s", jars=(f"rocketmq-server-{version}",)
    )


def proxy_image() -> Image:
    return Image(
        "mqproof/toxiproxy",
        TOXIPROXY_VERSION,
        "toxiproxy",
        (("TOXIPROXY_VERSION", TOXIPROXY_VERSION),),
        official=f"ghcr.io/shopify/toxiproxy:{TOXIPROXY_VERSION}",
    )


def worker_image() -> Image:
    """Its clients have the versions of the running installation."""
    packages = ("pika", "tenacity", "toxiproxy-python")
    version = f"pika-{metadata.version('pika')}"
    return Image("mqproof/worker", version, "worker", _versions(packages))


def rocketmq_worker_image() -> Image:
    """As worker_image, and every client of RocketMQ. One that is not installed here has the
    version that was tried."""
    packages = (package for client in of_family(ROCKETMQ) for package in client.packages)
    tried = ((_argument(package), version) for package, version in dict(packages).items())
    return Image(
        "mqproof/worker-rocketmq",
        worker_image().version,
        "worker-rocketmq",
        (*worker_image().arguments, *tried),
        jars=tuple(name for name in jars.SETS if jars.is_client(name)),
    )


def balancer_image() -> Image:
    return Image("mqproof/balancer", "2.6", "haproxy")


def maven_image() -> Image:
    """What fetches jars where this machine has no Maven or no Java; no cluster needs it."""
    return Image("mqproof/maven", "3.8", "maven")


def _versions(packages: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Build arguments: `PIKA_VERSION`, and what is installed here."""
    return tuple((_argument(package), metadata.version(package)) for package in packages)


def _argument(package: str) -> str:
    return f"{package.upper().replace('-', '_')}_VERSION"


BROKER_IMAGES: Mapping[str, Callable[[], Image]] = {
    "rabbitmq-mirrored": rabbitmq_image,
    "reference-mirrored": reference_image,
    "rocketmq-2m2s": rocketmq_image,
}


WORKER_IMAGES: Mapping[str, Callable[[], Image]] = {"rocketmq-2m2s": rocketmq_worker_image}


def broker_image(system: str, layout: Layout | None = None) -> Image:
    """Of a layout, or else the one that people get by hand."""
    if layout is not None and isinstance(layout.own, RocketMq):
        return rocketmq_image(layout.own.version)
    return BROKER_IMAGES[system]()


def ensure(
    client: docker.DockerClient,
    system: str,
    progress: Progress,
    balanced: bool = True,
    layout: Layout | None = None,
) -> Images:
    """A system's images, pulled or built where they are missing. Raises DeployError."""
    return Images(
        broker=_ensure(client, broker_image(system, layout), progress),
        proxy=_ensure(client, proxy_image(), progress),
        worker=_ensure(client, WORKER_IMAGES.get(system, worker_image)(), progress),
        balancer=_ensure(client, balancer_image(), progress) if balanced else "",
    )


def missing(client: docker.DockerClient, *systems: str) -> tuple[str, ...]:
    """What `ensure` would have to pull or build for these systems; for all without."""
    chosen = systems or tuple(BROKER_IMAGES)
    workers = {WORKER_IMAGES.get(system, worker_image)() for system in chosen}
    brokers = (BROKER_IMAGES[system]() for system in chosen)
    wanted = (*brokers, proxy_image(), *workers, balancer_image())
    return tuple(image.alias for image in wanted if _present(client, image) is None)


def tag_of(image: Image) -> str:
    with _context(image) as folder:
        return f"{image.alias}-{fingerprint(folder, image.arguments)}"


def fingerprint(folder: Path, arguments: tuple[tuple[str, str], ...]) -> str:
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
    _ensure_base(client, progress)
    with _context(image) as folder:
        tag = f"{image.alias}-{fingerprint(folder, image.arguments)}"
        for name in image.jars:
            made = jars.fetch(name, progress, lambda: _tools(client, progress))
            shutil.copytree(made, folder / "jars" / name)
        progress(f"building {tag}")
        _build(client, image, folder, tag, progress)
    client.images.get(tag).tag(image.name, image.version)
    return tag


def _tools(client: docker.DockerClient, progress: Progress) -> Tools:
    """Of this machine if it has them all: it has most of the jars then, too."""
    if java_tools.here():
        return java_tools.Here()
    return java_tools.InContainer(client, _ensure(client, maven_image(), progress))


def _present(client: docker.DockerClient, image: Image) -> str | None:
    names = [image.official] if image.official else []
    return next((name for name in [*names, tag_of(image)] if has(client, name)), None)


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


# What goes into an image of this installation's own files.
_SOURCES = {
    "worker": copy_worker_sources,
    "worker-rocketmq": copy_worker_sources,
    "reference-mirrored": copy_reference_sources,
}


@contextmanager
def _context(image: Image) -> Iterator[Path]:
    """The build context; a worker's and the reference's hold this installation's own files too.

    Of jars it has their sums: the jars themselves come when it is built.
    """
    with tempfile.TemporaryDirectory(prefix="mqproof-build-") as scratch:
        folder = Path(scratch) / "context"
        shutil.copytree(compose_folder() / image.folder, folder, ignore=_not_for_the_image)
        if image.folder in _SOURCES:
            _SOURCES[image.folder](folder)
        for name in image.jars:
            _copy_sums(name, folder / "sums")
        yield folder


def _copy_sums(name: str, sums: Path) -> None:
    """Of a set's jars, and of our own classes beside them."""
    sums.mkdir(exist_ok=True)
    shutil.copyfile(jars.lock_file(name), sums / f"{name}.sha256")
    (sums / f"{name}.mark").write_text(jars.fingerprint(name), encoding="utf-8")


def _not_for_the_image(_folder: str, names: list[str]) -> set[str]:
    """Layouts and the rendered compose file change no image."""
    unwanted = {"layouts", "system.toml", "compose.yaml", "__pycache__"}
    return unwanted.intersection(names)


def _build(
    client: docker.DockerClient, image: Image, folder: Path, tag: str, progress: Progress
) -> None:
    last: deque[str] = deque(maxlen=_LAST_LINES)
    try:
        steps = client.api.build(
            path=str(folder),
            tag=tag,
            buildargs=dict(image.arguments),
            rm=True,
            forcerm=True,
            decode=True,
        )
        for step in steps:
            if "error" in step:
                raise DeployError(_failed(tag, step["error"].strip(), last))
            for line in step.get("stream", "").splitlines():
                last.append(line)
                if line.startswith("Step "):
                    progress(f"{image.name}: {shorten(line, 80)}")
    except (DockerException, OSError) as error:
        raise DeployError(_failed(tag, str(error), last)) from error


def _failed(tag: str, reason: str, last: deque[str]) -> str:
    return "\n".join([f"building {tag} failed: {reason}; its last lines:", *last])
