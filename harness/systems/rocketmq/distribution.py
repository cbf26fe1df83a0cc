"""A vendor's own distribution of RocketMQ: the unpacked folder of a binary release.

1. The servers run from its `lib`. Configuration and start are mqproof's own, so that a layout
   means the same for every build; `bin` and `conf` are not used.
2. The number in the name of the broker's jar says which version's settings apply.
3. The image's tag depends on the content of every jar.
"""

import re
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from harness.cluster.port import DeployError
from harness.outside.text import brief
from harness.plan.layouts.versions import numbers
from harness.systems.containers import Distribution

LIB = "lib"
EXPECTED = (
    "an unpacked binary release of RocketMQ, whose `lib` has rocketmq-namesrv-VERSION.jar, "
    "rocketmq-broker-VERSION.jar, what they need and, since 5.0, rocketmq-controller-VERSION.jar"
)
_NAME = "distribution"
_BROKER = "rocketmq-broker"
_SERVERS = ("rocketmq-namesrv", _BROKER)
_SINCE_5 = ("rocketmq-controller",)
_VERSION = re.compile(r"rocketmq-broker-(\d+(?:\.\d+){1,3})[^/]*\.jar")


def look(folder: Path) -> Distribution:
    """Return the version of the servers in a folder, and which parts it lacks."""
    try:
        return _found(folder)
    except (OSError, ValueError) as error:  # too long, or in a folder that is closed to us
        reason = (error.strerror if isinstance(error, OSError) else "") or error
        return Distribution("", (f"it cannot be looked at: {reason}",), EXPECTED)


def _found(folder: Path) -> Distribution:
    """Raises OSError, and ValueError of a path with a zero in it."""
    if not folder.is_dir():
        return Distribution("", ("there is no such folder",), EXPECTED)
    if not (folder / LIB).is_dir():
        return Distribution("", (f"it has no folder `{LIB}`",), EXPECTED)
    version = _version(folder)
    return Distribution(version, tuple(_missing(folder, version)), EXPECTED)


def copy(folder: Path, context: Path) -> None:
    """Copy the jars into a build context, with their sums. Raise DeployError."""
    found = look(folder)
    if found.problems:
        raise DeployError(f"distribution {folder}: {'; '.join(found.problems)}")
    target = context / "jars" / _NAME
    sums = context / "sums" / f"{_NAME}.sha256"
    try:
        for made in (target, sums.parent):
            made.mkdir(parents=True)
        jars = _jars(folder)
        for jar in jars:
            shutil.copyfile(jar, target / jar.name)
        sums.write_text("".join(f"{_sum(target / jar.name)}  {jar.name}\n" for jar in jars))
    except OSError as error:
        raise DeployError(f"distribution {folder}: {error}") from error


def _jars(folder: Path) -> list[Path]:
    """Raises OSError: a glob of a folder that is closed to us would be empty."""
    return sorted(path for path in (folder / LIB).iterdir() if path.suffix == ".jar")


def _version(folder: Path) -> str:
    names = (path.name for path in sorted((folder / LIB).glob("rocketmq-broker-*.jar")))
    return next((found[1] for found in map(_VERSION.fullmatch, names) if found), "")


def _missing(folder: Path, version: str) -> Iterator[str]:
    if special := [path.name for path in _jars(folder) if not path.is_file()]:
        yield f"`{LIB}` has jars that are no regular files: {', '.join(map(brief, special))}"
    wanted = (*_SERVERS, *(_SINCE_5 if numbers(version) >= (5,) else ()))
    for name in wanted:
        jars = sorted(path.name for path in (folder / LIB).glob(f"{name}-[0-9]*.jar"))
        if not jars:
            yield f"`{LIB}` has no {name}-VERSION.jar"
        elif len(jars) > 1:
            yield f"`{LIB}` has several versions: {', '.join(map(brief, jars))}"
        elif not version and name == _BROKER:
            yield f"the name of `{jars[0]}` has no version such as 5.3.3"


def _sum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
