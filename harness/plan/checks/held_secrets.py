"""PURE: whether a topology file holds what its variables are there to hide."""

import re

from faults.core.commands import STEPS
from harness.plan.layouts.topology import Topology

_SECRET_MIN = 8  # what is shorter is found in names, too: guest


def holds(topology: Topology, password: str) -> bool:
    """Whether a command of the file has the password among its words, or behind `=` or `:`."""
    if len(password) < _SECRET_MIN:
        return False
    secret = re.compile(rf"(^|[=:@,\s'\"]){re.escape(password)}($|[=:@,\s'\"])")
    return any(
        secret.search(word)
        for command in topology.commands.values()
        for step in STEPS
        for word in command.words(step)
    )
