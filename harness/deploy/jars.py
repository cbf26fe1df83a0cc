"""The jars of clients and servers, as they declare them: fetched by Maven, held to checksums.

1. Maven itself fetches, here or in a container (java_tools.py); what came is held to a committed
   lock of sha256 sums, so that every machine runs the same bytes. All differences are reported.
   A set without a lock, of a version that a user named, is held to the sums of the repository.
2. Where a set has classes of our own beside it, they are compiled against it by Eclipse's
   compiler, which is one jar and needs no JDK.
3. A set appears by one rename: a fetch that is cut off leaves nothing that looks whole.
4. One process fetches at a time; another one waits for it, and uses its result.

`python -m harness.deploy.jars [--check] [SET ...]` fetches missing ones (all without a name).
"""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from harness.cluster.port import DeployError, Progress
from harness.deploy.java_tools import Here, Tools
from harness.outside.locks import lock
from harness.outside.text import visible
from harness.plan.clients import registry as clients
from harness.plan.layouts.jars import JarSet
from harness.systems import registry as systems
from harness.systems.files import compose_folder
from harness.workers.clients.jars import BRIDGE, jars_folder

_COMPILER = "org.eclipse.jdt:ecj:3.33.0"
_COMPILER_SHA256 = "f7686c4960cf70c2ebc5c500a73a8cfc04541b730c18f1c5c21329889b137f45"
_JAVA_LEAST = "17"  # the language level of our own classes
_MARK = "mqproof-set"  # holds the fingerprint of what the set was made from
_FETCH_LIMIT_S = 600.0
_COMPILE_LIMIT_S = 120.0
_MAVEN = ("mvn", "-q", "-B", "--strict-checksums")


def sets() -> Mapping[str, JarSet]:
    """Every one that is declared, by its name: of two that bear one, the first, and ours are."""
    found: dict[str, JarSet] = {}
    for client in clients.registry().clients.values():
        if client.jars is not None:
            found.setdefault(client.jars.name, client.jars)
    for own in systems.registry().systems.values():
        for one in own.containers.jars if own.containers is not None else ():
            found.setdefault(one.name, one)
    return found


def named(name: str) -> JarSet:
    """Raises DeployError, which names those that there are."""
    found = sets()
    if name not in found:
        raise DeployError(f"there is no set of jars {name!r}; choose one of {', '.join(found)}")
    return found[name]


def why_not(*names: str) -> str:
    """Empty where these sets are here as this installation wants them; else how to get them."""
    wrong = [name for name in names if not _whole(named(name))]
    return f"jars are missing: `python -m harness.deploy.jars {' '.join(wrong)}`" if wrong else ""


def fetch(one: JarSet, progress: Progress, tools: Callable[[], Tools] | None = None) -> Path:
    """The folder of a set, fetched if it is not here as it should be. Raises DeployError.

    `tools` is called where something is to be fetched or compiled; without it, this machine's."""
    target = jars_folder() / one.name
    if _whole(one):
        return target
    tools = tools or partial(Here, _otherwise(one))
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        lock(target.parent, held, wait=True)
        if not _whole(one):
            _fetch(one, target, progress, tools)
    return target


def _fetch(one: JarSet, target: Path, progress: Progress, tools: Callable[[], Tools]) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{one.name}-") as scratch:
        made = Path(scratch) / "set"
        sums = parse_lock(lock_file(one).read_text()) if one.lock else None
        if sums is not None and target.is_dir() and not list(differences(target, sums)):
            # Only our own classes have changed.
            shutil.copytree(target, made, ignore=shutil.ignore_patterns(BRIDGE, _MARK))
        else:
            progress(f"fetching {one.name}")
            _fetch_closure(one, made, Path(scratch), tools())
        doubts = [] if sums is None else list(differences(made, sums))
        if doubts:
            raise DeployError(f"{one.name} is not what its lock says: {'; '.join(doubts)}")
        if one.classes:
            progress(f"compiling our classes against {one.name}")
            _compile(one, made, Path(scratch), tools())
        (made / _MARK).write_text(fingerprint(one))
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)


def _otherwise(one: JarSet) -> str:
    """How else it is got: with an image that holds it."""
    for name, own in systems.registry().systems.items():
        its = own.containers
        if its is not None and one in (*its.jars, *its.worker_image().jars):
            return f"have a Docker engine do it (`mqproof build --system {name}`)"
    return ""


def differences(folder: Path, lock: Mapping[str, str]) -> Iterator[str]:
    """What a folder's jars lack, have too much, or have different, by name, sorted."""
    found = {path.name: path for path in folder.glob("*.jar")}
    for name in sorted(lock.keys() | found.keys()):
        if name not in found:
            yield f"{name} is missing"
        elif name not in lock:
            yield f"{name} is not in the lock"
        elif (digest := _sha256(found[name])) != lock[name]:
            yield f"{name} has sha256 {digest}, not {lock[name]}"


def sums_of(one: JarSet, folder: Path) -> str:
    """Return the lines of a lock: the committed one, or of the jars that came."""
    if one.lock:
        return lock_file(one).read_text()
    found = sorted(folder.glob("*.jar"))
    return "".join(f"{_sha256(path)}  {path.name}\n" for path in found)


def parse_lock(text: str) -> dict[str, str]:
    """Name to sum, from the lines that `sha256sum` writes."""
    pairs = (line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    return {name.lstrip("*"): digest for digest, name in pairs}


def _whole(one: JarSet) -> bool:
    wanted = fingerprint(one)  # first: a lock that is missing is an error wherever jars are
    mark = jars_folder() / one.name / _MARK
    return mark.is_file() and mark.read_text() == wanted


def fingerprint(one: JarSet) -> str:
    """Of the lock and of our classes: a change of either makes another set."""
    held_to = lock_file(one).read_bytes() if one.lock else repr(one.artifacts).encode()
    digest = hashlib.sha256(held_to)
    if one.classes:
        for source in _sources(one):
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _fetch_closure(one: JarSet, target: Path, scratch: Path, tools: Tools) -> None:
    (scratch / "pom.xml").write_text(pom(one.artifacts))
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={target}")
    tools.run([*_MAVEN, *goal], scratch, _FETCH_LIMIT_S, f"fetching {one.name}")


def pom(artifacts: Sequence[str]) -> str:
    """A project that is nothing but its dependencies."""
    wanted = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in (text.split(":") for text in artifacts)
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>mqproof</groupId>"
        "<artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{wanted}</dependencies></project>"
    )


def _compile(one: JarSet, made: Path, scratch: Path, tools: Tools) -> None:
    goal = ("dependency:copy", f"-Dartifact={_COMPILER}", f"-DoutputDirectory={scratch}")
    tools.run([*_MAVEN, *goal], scratch, _FETCH_LIMIT_S, "fetching the compiler")
    (compiler,) = scratch.glob("ecj-*.jar")
    if (digest := _sha256(compiler)) != _COMPILER_SHA256:
        raise DeployError(f"{compiler.name} has sha256 {digest}, not {_COMPILER_SHA256}")
    own = scratch / "mqproof"
    shutil.copytree(_place(one.classes), own)
    command = ["java", "-jar", str(compiler), "-nowarn", "-source", _JAVA_LEAST]
    command += ["-target", _JAVA_LEAST, "-cp", ":".join(map(str, sorted(made.glob("*.jar"))))]
    command += ["-d", str(made / BRIDGE), *map(str, sorted(own.glob("*.java")))]
    tools.run(command, scratch, _COMPILE_LIMIT_S, "compiling our classes")


def _sources(one: JarSet) -> list[Path]:
    return sorted(_place(one.classes).glob("*.java"))


def lock_file(one: JarSet) -> Path:
    return _place(one.lock)


def _place(path: str) -> Path:
    return compose_folder() / path  # an absolute one stands by itself


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(words: Sequence[str]) -> int:
    names = [word for word in words if word != "--check"] or list(sets())
    try:
        if "--check" in words:
            reason = why_not(*names)
            print(reason or "all here")
            return 1 if reason else 0
        for name in names:
            print(fetch(named(name), print))
    except (DeployError, OSError) as error:
        print(visible(str(error)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
