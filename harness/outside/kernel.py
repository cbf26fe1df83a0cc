"""What files of this machine say of its kernel: whether it has a module, or can load it.

1. `lacking` is a function of what was read; only `here` looks at the machine.
2. If no file shows it, the kernel is not said to lack the module: only its use shows it then.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.outside.files import Unreadable, text_of

_FILE_MAX = 1 << 24  # bytes
_OPTIONS = {"sch_netem": "CONFIG_NET_SCH_NETEM"}  # by which a kernel is built with the module


@dataclass(frozen=True, slots=True)
class KernelFiles:
    """The files of a running kernel. None: there is no such file."""

    release: str  # of `uname -r`
    loaded: frozenset[str] = frozenset()  # modules that /sys/module has
    configuration: str | None = None  # /proc/config.gz, or /boot/config-RELEASE
    modules: str | None = None  # modules.builtin and modules.dep of /lib/modules/RELEASE


def here() -> KernelFiles:
    release = os.uname().release
    folder = Path("/lib/modules") / release
    lists = [_text(folder / name) for name in ("modules.builtin", "modules.dep")]
    found = [one for one in lists if one is not None]
    return KernelFiles(
        release,
        frozenset(name for name in _OPTIONS if Path("/sys/module", name).is_dir()),
        _text(Path("/proc/config.gz")) or _text(Path("/boot") / f"config-{release}"),
        "\n".join(found) if found else None,
    )


def lacking(kernel: KernelFiles, module: str) -> str:
    """Return what keeps the kernel from the module, as words after "the kernel"; "" if it has it,
    or if no file shows it."""
    installed = kernel.modules is not None and f"/{module}.ko" in kernel.modules
    if module in kernel.loaded or installed:
        return ""
    option = _OPTIONS.get(module)
    if option is not None and kernel.configuration is not None:
        if re.search(rf"^{option}=y$", kernel.configuration, re.M):
            return ""
        if re.search(rf"^# {option} is not set$", kernel.configuration, re.M):
            return f"was built without {module} ({option} is not set)"
    return f"has no module {module}" if kernel.modules is not None else ""


def _text(path: Path) -> str | None:
    with suppress(Unreadable):
        return text_of(path, _FILE_MAX)
    return None
