"""The jars of RocketMQ's clients and servers: fetched by Maven coordinates, held to checksums.

1. Maven itself fetches, here or in a container (java_tools.py); what came is held to a committed
   lock of sha256 sums, so that everybody runs the same bytes. Every difference is told at once.
2. A client's set gets our own few classes beside it, compiled against it by Eclipse's compiler,
   which is one jar and needs no JDK.
3. A set appears by one rename: a fetch that is cut off leaves nothing that looks whole.

`python -m harness.deploy.jars [--check] [SET ...]` fetches what is missing (all without a name).
"""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.cluster.port import DeployError, Progress
from harness.deploy.java_tools import Here, Tools
from harness.outside.text import visible
from harness.plan.clients.registry import OURS
from harness.systems.files import compose_folder
from harness.workers.clients.jars import BRIDGE, jars_folder

GROUP = "org.apache.rocketmq"
CLIENT_SETS: Mapping[str, tuple[str, ...]] = {
    client.name: client.artifacts for client in OURS.values() if client.artifacts
}
SETS: Mapping[str, tuple[str, ...]] = {
    **CLIENT_SETS,
    "rocketmq-server-4.9.7": (
        "rocketmq-namesrv:4.9.7",
        "rocketmq-broker:4.9.7",
        "rocketmq-tools:4.9.7",
    ),
    "rocketmq-server-5.3.3": (
        "rocketmq-namesrv:5.3.3",
        "rocketmq-broker:5.3.3",
        "rocketmq-tools:5.3.3",
        "rocketmq-controller:5.3.3",
    ),
}
_COMPILER = "org.eclipse.jdt:ecj:3.33.0"
_COMPILER_SHA256 = "f7686c4960cf70c2ebc5c500a73a8cfc04541b730c18f1c5c21329889b137f45"
_JAVA_LEAST = "17"  # the language level of our own classes
_MARK = "mqproof-set"  # holds the fingerprint of what the set was made from
_FETCH_LIMIT_S = 600.0
_COMPILE_LIMIT_S = 120.0
_MAVEN = ("mvn", "-q", "-B")


def why_not(*names: str) -> str:
    """Empty where these sets are here as this installation wants them; else how to get them."""
    wrong = [name for name in names if not _whole(name)]
    return f"jars are missing: `python -m harness.deploy.jars {' '.join(wrong)}`" if wrong else ""


def fetch(name: str, progress: Progress, tools: Callable[[], Tools] = Here) -> Path:
    """The folder of a set, fetched if it is not here as it should be. Raises DeployError.

    `tools` is called where something is to be fetched or compiled."""
    if name not in SETS:
        raise DeployError(f"there is no set of jars {name!r}; choose one of {', '.join(SETS)}")
    target = jars_folder() / name
    if _whole(name):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{name}-") as scratch:
        made = Path(scratch) / "set"
        lock = _lock(name)
        if target.is_dir() and not list(differences(target, lock)):
            # Only our own classes have changed.
            shutil.copytree(target, made, ignore=shutil.ignore_patterns(BRIDGE, _MARK))
        else:
            progress(f"fetching {name}")
            _fetch_closure(name, made, Path(scratch), tools())
        doubts = list(differences(made, lock))
        if doubts:
            raise DeployError(f"{name} is not what its lock says: {'; '.join(doubts)}")
        if is_client(name):
            progress(f"compiling our classes against {name}")
            _compile(made, Path(scratch), tools())
        (made / _MARK).write_text(fingerprint(name))
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)
    return target


def is_client(name: str) -> bool:
    return name in CLIENT_SETS


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


def parse_lock(text: str) -> dict[str, str]:
    """Name to sum, from the lines that `sha256sum` writes."""
    pairs = (line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    return {name.lstrip("*"): digest for digest, name in pairs}


def _whole(name: str) -> bool:
    mark = jars_folder() / name / _MARK
    return mark.is_file() and mark.read_text() == fingerprint(name)


def fingerprint(name: str) -> str:
    """Of the lock and, for a client, of our classes: a change of either makes another set."""
    digest = hashlib.sha256(lock_file(name).read_bytes())
    if is_client(name):
        for source in _sources():
            digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def _fetch_closure(name: str, target: Path, scratch: Path, tools: Tools) -> None:
    (scratch / "pom.xml").write_text(pom(SETS[name]))
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={target}")
    tools.run([*_MAVEN, *goal], scratch, _FETCH_LIMIT_S, f"fetching {name}")


def pom(artifacts: Sequence[str]) -> str:
    """A project that is nothing but its dependencies."""
    wanted = "".join(
        f"<dependency><groupId>{GROUP}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for artifact, _, version in (word.partition(":") for word in artifacts)
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>mqproof</groupId>"
        "<artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{wanted}</dependencies></project>"
    )


def _compile(made: Path, scratch: Path, tools: Tools) -> None:
    goal = ("dependency:copy", f"-Dartifact={_COMPILER}", f"-DoutputDirectory={scratch}")
    tools.run([*_MAVEN, *goal], scratch, _FETCH_LIMIT_S, "fetching the compiler")
    (compiler,) = scratch.glob("ecj-*.jar")
    if (digest := _sha256(compiler)) != _COMPILER_SHA256:
        raise DeployError(f"{compiler.name} has sha256 {digest}, not {_COMPILER_SHA256}")
    own = scratch / "mqproof"
    shutil.copytree(_sources_folder(), own)
    command = ["java", "-jar", str(compiler), "-nowarn", "-source", _JAVA_LEAST]
    command += ["-target", _JAVA_LEAST, "-cp", ":".join(map(str, sorted(made.glob("*.jar"))))]
    command += ["-d", str(made / BRIDGE), *map(str, sorted(own.glob("*.java")))]
    tools.run(command, scratch, _COMPILE_LIMIT_S, "compiling our classes")


def _sources_folder() -> Path:
    return compose_folder() / "rocketmq-java" / "mqproof"


def _sources() -> list[Path]:
    return sorted(_sources_folder().glob("*.java"))


def _lock(name: str) -> dict[str, str]:
    return parse_lock(lock_file(name).read_text())


def lock_file(name: str) -> Path:
    return compose_folder() / "rocketmq-java" / "locks" / f"{name}.sha256"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(words: Sequence[str]) -> int:
    names = [word for word in words if word != "--check"] or list(SETS)
    try:
        if "--check" in words:
            unknown = [name for name in names if name not in SETS]
            reason = f"no set of jars {unknown[0]!r}" if unknown else why_not(*names)
            print(reason or "all here")
            return 1 if reason else 0
        for name in names:
            print(fetch(name, print))
    except DeployError as error:
        print(visible(str(error)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
