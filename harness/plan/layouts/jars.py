"""Sets of jars as they are declared, by the clients and the servers that are in them.

Data alone: harness/deploy/jars.py fetches them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.outside.text import brief

_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_COORDINATES = re.compile(r"[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+:[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JarSet:
    """Jars that are fetched together, with all that they need.

    Paths are below mqproof's own compose/; those of another package are absolute. A set of a
    version that a user named has "" for a lock: it is held to the sums of Maven's repository.
    """

    name: str  # of its folder, too
    artifacts: tuple[str, ...]  # Maven's coordinates: `group:artifact:version`
    lock: str  # a file with the sum of each jar, as sha256sum writes them
    classes: str  # a folder of *.java that is compiled against it, and lies beside it; "" for none


def mistakes(jars: JarSet) -> Iterator[str]:
    """Yield the mistakes in a declaration, of mqproof or of another package."""
    if not _NAME.fullmatch(jars.name):
        yield f"{brief(jars.name)} is no name: small letters, digits, hyphens and points"
    for text in jars.artifacts:
        if not _COORDINATES.fullmatch(text):
            yield f"{brief(text)} is no `group:artifact:version`"
    if not jars.artifacts:
        yield "it has no artifact"
    if not jars.lock:
        yield "it has no lock: a file with the sum of each jar"
