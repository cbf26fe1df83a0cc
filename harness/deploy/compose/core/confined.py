"""PURE: what a container may do and use, beside what its service is for.

1. Every right is dropped; each role gets back what its entry point needs, and why is said here. No
   process gains one that its container has not (no-new-privileges).
2. Limits of memory, processes and logs keep a machine usable when something runs away: they lie
   far above what any scenario needs. A broker that meets its limit of memory is killed by the
   kernel, and that is seen and told (run/process_ends.py).
"""

from typing import Any

from harness.deploy import labels
from harness.systems.core.services import BECOMES_A_USER

Mapping = dict[str, Any]

_ADDRESSES = ("NET_ADMIN",)  # adds addresses to the proxy's network namespace
_BALANCER = (*BECOMES_A_USER, "KILL", "SYS_CHROOT")  # HAProxy locks itself in
FLOATS = ("NET_ADMIN", "NET_BROADCAST", "NET_RAW")  # Keepalived's address and its multicasts

RIGHTS: dict[str, tuple[str, ...]] = {
    labels.ROLE_HOST: (),  # it sleeps
    labels.ROLE_PROCESS: BECOMES_A_USER,
    labels.ROLE_PROXY: (),
    labels.ROLE_ADDRESSES: _ADDRESSES,
    labels.ROLE_AGENT: (),
    # A worker becomes the caller's user, and is ended; who waits for a processor measures that, so
    # it may ask for real time (worker_ways.py).
    labels.ROLE_WORKERS: ("KILL", "SETGID", "SETUID", "SYS_NICE"),
}
_MEMORY = {  # of a role; an idle container needs a few megabytes
    labels.ROLE_HOST: "128m",
    labels.ROLE_PROCESS: "4g",
    labels.ROLE_PROXY: "2g",
    labels.ROLE_ADDRESSES: "128m",
    labels.ROLE_AGENT: "1g",
    labels.ROLE_WORKERS: "8g",
}
_PROCESSES = {  # threads count
    labels.ROLE_HOST: 64,
    labels.ROLE_PROCESS: 4096,
    labels.ROLE_PROXY: 4096,
    labels.ROLE_ADDRESSES: 64,
    labels.ROLE_AGENT: 1024,
    labels.ROLE_WORKERS: 16384,
}
LOG_MAX, LOGS_MAX = "256m", "2"  # of each container


def confined(service: Mapping) -> Mapping:
    """The service, with the rights and limits of its role; what it says itself comes on top."""
    role = service["labels"][labels.ROLE]
    rights = sorted({*RIGHTS[role], *service.get("cap_add", ())})
    return {
        **service,
        "cap_drop": ["ALL"],
        **({"cap_add": rights} if rights else {}),
        "security_opt": ["no-new-privileges:true"],
        "mem_limit": _MEMORY[role],
        "pids_limit": _PROCESSES[role],
        "logging": {
            "driver": "json-file",
            "options": {"max-size": LOG_MAX, "max-file": LOGS_MAX},
        },
    }


def balancer_rights(floats: bool) -> list[str]:
    return sorted({*_BALANCER, *(FLOATS if floats else ())})
