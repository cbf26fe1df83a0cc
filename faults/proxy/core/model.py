"""Proxies and toxics, as the whole package sees them.

1. A toxic is a frozen value: an update replaces it by another of the same name.
2. A proxy is the registry's one live object; its toxics are read when a connection is accepted.
"""

from dataclasses import dataclass, field
from enum import Enum

from faults.proxy.core.toxics.catalogue import Settings


class Direction(Enum):
    """The direction of bytes: from the client to the server, or back."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


@dataclass(frozen=True, slots=True)
class Toxic:
    """`stream` is the direction as its author wrote it; upper case is accepted and kept."""

    name: str
    type: str
    stream: str
    toxicity: float
    settings: Settings

    @property
    def direction(self) -> Direction:
        return Direction(self.stream.lower())


@dataclass(slots=True, eq=False)
class Proxy:
    """`listen` is the real address while it is enabled, and what was asked for otherwise."""

    name: str
    listen: str
    upstream: str
    enabled: bool = False
    toxics: list[Toxic] = field(default_factory=list)

    def ordered(self) -> list[Toxic]:
        """As the interface lists them: upstream ones first, each direction as they were added."""
        return [one for way in Direction for one in self.of(way)]

    def of(self, direction: Direction) -> list[Toxic]:
        return [one for one in self.toxics if one.direction is direction]


class ProxyError(Exception):
    """A refusal of a request: the status and the server's own words."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
