"""The settings of replicas and control nodes.

The lease has to end, by the slowest clock, before a control node takes its holder for dead, by
the fastest one: `lease` * (1 + drift) < `expiry` * (1 - drift).
"""

from enum import StrEnum

import msgspec

from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.settings import BrokerSettings, BrokerTimes, Flush, NameServer, over


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


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`address`: where it gives its log away; `serves`: where it serves clients.
    `flushes`: a message counts only on the disk."""

    group: str
    name: str
    address: str
    serves: str = ""
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


def of_broker(config: BrokerSettings) -> ReplicaSettings:
    """Raises ValueError."""
    times = config.times
    return ReplicaSettings(
        group=config.broker_name,
        name=str(config.broker_id),
        address=config.ha_address,
        serves=config.address,
        flushes=config.flush_disk_type is Flush.SYNC_FLUSH,
        min_in_sync=config.min_in_sync_replicas,
        truncation=Truncation(config.replica_truncation),
        batch_octets=config.ha_transfer_batch_size,
        without=_rules(config.replica_without),
        times=ReplicaTimes(
            beat=times.replica_beat,
            lease=times.replica_lease,
            put_limit=times.slave_timeout,
            check=times.replica_check,
            out=times.replica_out,
            redial=times.replica_redial,
        ),
    )


def of_name_server(config: NameServer) -> tuple[ControlSettings, MemberSettings]:
    """Raises ValueError."""
    if config.control_self_id not in config.control_members:
        raise ValueError(f"controlSelfId: {config.control_self_id!r} is not in controlPeers")
    factor = config.times.replica_expiry / ReplicaTimes().expiry
    control = ControlSettings(
        without=_rules(config.control_without),
        times=ReplicaTimes(expiry=config.times.replica_expiry),
    )
    members = MemberSettings(
        group="control",
        name=config.control_self_id,
        peers=config.control_members,
        secret=config.peer_secret,
        flushes=True,
        file_octets=config.control_file_octets,
        times=over(BrokerTimes(), 1 / factor),
    )
    return control, members


def _rules(text: str) -> tuple[ReplicaRule, ...]:
    return tuple(ReplicaRule(one.strip()) for one in text.split(",") if one.strip())
