"""PURE: the commands that raise and clear the alarms of a node in its container."""

from faults.alarms import NOTHING, AlarmCommands, Command

CONFIGURATION = "/etc/mqproof/node.json"  # where its entry point writes it
_RAISED = {"memory": "1", "disk": "1000000000000000"}  # a limit that no node keeps


def _limit(*words: str) -> Command:
    return ("python3", "-m", "reference_impl", "limit", CONFIGURATION, *words)


def _all_cleared() -> Command:
    script = f"[ -e {CONFIGURATION} ] || {{ echo '{NOTHING}'; exit 0; }}; exec \"$@\""
    return ("sh", "-c", script, "clear", *_limit("all"))


REFERENCE_ALARMS = AlarmCommands(
    raised={resource: _limit(resource, octets) for resource, octets in _RAISED.items()},
    cleared={resource: _limit(resource) for resource in _RAISED},
    all_cleared=_all_cleared(),
)
