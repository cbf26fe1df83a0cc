"""The toxics of Toxiproxy 2.12.0: the name of each, its settings, the pipe that it makes.

1. Settings have the interface's own field names, in the order in which it prints them.
2. The whole of what a toxic is stands in its own module; this one only lists them.
"""

from dataclasses import dataclass
from random import Random
from typing import Any

from faults.proxy.core.toxics.bandwidth import Bandwidth, BandwidthPipe
from faults.proxy.core.toxics.closing import (
    LimitData,
    LimitDataPipe,
    ResetPeer,
    ResetPeerPipe,
    SlowClose,
    SlowClosePipe,
    Timeout,
    TimeoutPipe,
)
from faults.proxy.core.toxics.flow import Pipe
from faults.proxy.core.toxics.latency import Latency, LatencyPipe
from faults.proxy.core.toxics.noop import Noop, NoopPipe
from faults.proxy.core.toxics.slicer import Slicer, SlicerPipe

Settings = Latency | Bandwidth | SlowClose | Timeout | ResetPeer | Slicer | LimitData | Noop


@dataclass(frozen=True, slots=True)
class ToxicType:
    """A type of toxic."""

    settings: type[Settings]
    pipe: Any  # the pipe's class; its parameter is the settings' class

    def make(self, settings: Settings, random: Random, started_ns: int) -> Pipe[Settings]:
        assert isinstance(settings, self.settings), settings
        made: Pipe[Settings] = self.pipe(settings, random, started_ns)
        return made


KINDS = {
    "bandwidth": ToxicType(Bandwidth, BandwidthPipe),
    "latency": ToxicType(Latency, LatencyPipe),
    "limit_data": ToxicType(LimitData, LimitDataPipe),
    "noop": ToxicType(Noop, NoopPipe),
    "reset_peer": ToxicType(ResetPeer, ResetPeerPipe),
    "slicer": ToxicType(Slicer, SlicerPipe),
    "slow_close": ToxicType(SlowClose, SlowClosePipe),
    "timeout": ToxicType(Timeout, TimeoutPipe),
}


def ends_on_removal(settings: Settings) -> bool:
    return isinstance(settings, Timeout)


def resets_on_close(settings: Settings) -> bool:
    return isinstance(settings, ResetPeer)
