"""The offers of a broker's tune, and its timeouts; RabbitMQ's defaults."""

from collections.abc import Callable
from dataclasses import dataclass

from reference_impl.misbehave.kinds import Misbehaviour


@dataclass(frozen=True, slots=True)
class Settings:
    channel_max: int = 2047
    frame_max: int = 131_072
    heartbeat_s: int = 60
    message_octets_max: int = 128 << 20
    handshake_ms: int = 10_000
    closing_ms: int = 30_000  # for a close-ok
    broken_ms: int = 3_000  # for a close to reach a client whose frames cannot be read any more
    retry_ms: int = 30  # between two looks for a queue's master (items 39, 43)
    retries_max: int = 2_000
    promotion_ms: int = 100  # between two looks whether a mirror takes over, before a delete
    guard_ms: int = 100  # between two looks whether confirms may go out again (3.8)
    sweep_ms: int = 60_000  # between two looks for unacknowledged deliveries
    sweeps_max: int = 30  # consumer_timeout, in sweeps
    routes_max: int = 4_096  # that a channel remembers
    misbehaviour: Misbehaviour | None = None
    linked: Callable[[], frozenset[str]] | None = (
        None  # peers that the node sees: stale-guard asks
    )
