"""The settings of replicas and control nodes.

The lease has to end, by the slowest clock, before a control node takes its holder for dead, by
the fastest one: `lease` * (1 + drift) < `expiry` * (1 - drift).
"""

from enum import StrEnum

import msgspec

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule


class Truncation(StrEnum):
    """How a replica finds where its log leaves its master's."""

    EPOCHS = "epochs"  # both compare which epoch began where
    SLAVE_ACK = "slave-ack"  # a former master cuts what its slaves had not acknowledged


class ReplicaTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds: a control node that is quick (docs/behaviour/rocketmq-ctgmq.md 2)."""

    beat: int = 1_000  # between two registrations
    expiry: int = 10_000  # a broker that is silent for so long is dead
    lease: int = 7_000  # a master serves for so long after a registration
    put_limit: int = 3_000  # a message that is not acknowledged by then is answered as an error
    check: int = 2_000  # between two looks for members that are behind
    out: int = 15_000  # who is behind for so long leaves the set
    redial: int = 500


SLOW_TIMES = ReplicaTimes(beat=30_000, expiry=120_000, lease=90_000)


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`address`: where it gives its log away. `flushes`: a message counts only on the disk."""

    group: str
    name: str
    address: str
    flushes: bool = False
    min_in_sync: int = 1
    truncation: Truncation = Truncation.EPOCHS
    batch_octets: int = 32 * 1024
    without: tuple[ReplicaRule, ...] = ()
    times: ReplicaTimes = ReplicaTimes()

    def keeps(self, rule: ReplicaRule) -> bool:
        return rule not in self.without


class ControlSettings(msgspec.Struct, frozen=True, kw_only=True):
    without: tuple[ReplicaRule, ...] = ()
    times: ReplicaTimes = ReplicaTimes()

    def keeps(self, rule: ReplicaRule) -> bool:
        return rule not in self.without
