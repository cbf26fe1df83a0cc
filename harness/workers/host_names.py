"""The addresses of host names for one worker, if brokers advertise names: each worker has its own
address of the proxy, and its own table leads there.

1. The table has the form of /etc/hosts. Where there is none, a name means what it means here.
2. A JVM that gets a table resolves by it alone. RocketMQ's client resolves the name of its own
   machine, if no network is up, and does not start without; so the table has that, too.
3. In containers libc is configured (deploy/compose/worker_ways.py): no table is needed.
4. Libraries that ask libc use the table through nss_wrapper, where this machine has it.
"""

import os
import socket
from collections.abc import Mapping
from pathlib import Path

HOSTS_FILE = "MQPROOF_HOSTS"
LIBC_HOSTS_FILE = "NSS_WRAPPER_HOSTS"  # nss_wrapper's own variable
SYSTEM_HOSTS = Path("/etc/hosts")
_LOOPBACK = "127.0.0.1"
_PRELOAD = "LD_PRELOAD"
_WRAPPER = "libnss_wrapper.so"
_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")


def jvm_flags(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return JVM flags to use the same table: the JVM then resolves only by it."""
    path = environment.get(HOSTS_FILE, "")
    return (f"-Djdk.net.hosts.file={path}",) if path else ()


def own_table(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """By name. Raises OSError where the table cannot be read."""
    path = environment.get(HOSTS_FILE, "")
    lines = Path(path).read_text(encoding="utf-8").splitlines() if path else []
    pairs = (line.split() for line in lines if line.strip())
    return {name: address for address, *names in pairs for name in names}


def wrapper() -> Path | None:
    """Return nss_wrapper's library on this machine (Debian: libnss-wrapper), or None."""
    folders = [place for one in map(Path, _FOLDERS) for place in (one, *one.glob("*-linux-*"))]
    return next((place / _WRAPPER for place in folders if (place / _WRAPPER).is_file()), None)


def variables(
    addresses: Mapping[str, str],
    table: Path,
    library: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Write the table (addresses by name); return the variables that make a worker use it.

    `library`: nss_wrapper's, by default the one of this machine. Raises OSError.
    """
    lines = "".join(f"{address} {name}\n" for name, address in addresses.items())
    table.write_text(lines + _this_machine(addresses), encoding="utf-8")
    found = {HOSTS_FILE: str(table)}
    library = library or wrapper()
    if library is None:
        return found
    # nss_wrapper asks nothing else, so its table also has this machine's own names.
    for_libc = table.with_suffix(".libc")
    for_libc.write_text(lines + SYSTEM_HOSTS.read_text(encoding="utf-8"), encoding="utf-8")
    preloaded = " ".join(filter(None, [str(library), environment.get(_PRELOAD, "")]))
    return {**found, _PRELOAD: preloaded, LIBC_HOSTS_FILE: str(for_libc)}


def _this_machine(addresses: Mapping[str, str]) -> str:
    """Return the line of this machine's own name; "" if that is a broker's."""
    name = socket.gethostname()
    return "" if name in addresses else f"{_LOOPBACK} {name}\n"


def libc_obstacle(environment: Mapping[str, str] = os.environ) -> str:
    """Return why libc does not find the brokers' names, with a remedy; "" if it does."""
    if HOSTS_FILE not in environment or LIBC_HOSTS_FILE in environment:
        return ""
    return (
        "its C++ library asks the system for the addresses of brokers, and this system does not "
        "know their names; install nss_wrapper (`apt-get install libnss-wrapper`), or run with "
        "--deployment compose"
    )
