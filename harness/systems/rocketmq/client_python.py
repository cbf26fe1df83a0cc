"""rocketmq-client-python 2.0.0 on this machine: fetched by pip, with a shim compiled by gcc.

1. The folder appears by one rename: a build that is cut off leaves nothing that looks whole.
2. Both packages are held to committed SHA-256 sums (compose/worker-rocketmq/client-python).
3. The image of workers runs the same script, so both have the same package, library and shim.

`python -m harness.systems.rocketmq.client_python [--check]` makes missing files.
"""

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from harness.cluster.port import DeployError
from harness.outside.locks import lock
from harness.outside.text import visible
from harness.systems.files import compose_folder
from harness.workers.clients.rocketmq.client_python import folder, lacking

_LIMIT_S = 600.0
_LAST_LINES = 15


def why_not() -> str:
    """Return what the folder lacks; empty where it is whole."""
    return lacking(folder())


def make() -> Path:
    """Return the folder, made if it is not whole. Raises DeployError."""
    target = folder()
    if not lacking(target):
        return target
    _require_tools()
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        lock(target.parent, held, wait=True)
        if lacking(target):
            _build(target)
    return target


def _require_tools() -> None:
    if platform.machine() != "x86_64" or sys.platform != "linux":
        here = f"{sys.platform} on {platform.machine()}"
        raise DeployError(f"the library of `rocketmq` 0.4.4 is for Linux on x86_64, not {here}")
    if shutil.which("gcc") is None:
        raise DeployError("gcc is missing; install it (`apt-get install gcc libc6-dev`)")


def _build(target: Path) -> None:
    script = compose_folder() / "worker-rocketmq" / "client-python" / "build.sh"
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        made = Path(scratch) / "made"
        _run(["sh", str(script), str(made), sys.executable])
        if reason := lacking(made):
            raise DeployError(f"{script.name} made no whole folder: {reason}")
        if target.exists():
            shutil.rmtree(target)
        made.rename(target)


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DeployError(f"building rocketmq-client-python failed: {error}") from error
    if done.returncode != 0:
        last = "\n".join(done.stdout.splitlines()[-_LAST_LINES:])
        raise DeployError(
            f"building rocketmq-client-python failed with status {done.returncode}:\n{last}"
        )


def main(words: Sequence[str]) -> int:
    try:
        if "--check" in words:
            reason = why_not()
            print(reason or "all here")
            return 1 if reason else 0
        print(make())
    except (DeployError, OSError) as error:
        print(visible(str(error)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
