"""The settings of one member of a group."""

from collections.abc import Mapping

import msgspec

from reference_impl.rocketmq.dledger.rules import Rule
from reference_impl.rocketmq.settings import BrokerSettings, BrokerTimes, Flush

HEARTBEATS_MISSED_MAX = 3
PENDING_MAX = 10_000
LEDGER_FILE_OCTETS = 1 << 30


class MemberSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`peers`: the address of every member, its own too. `flushes`: an entry counts only when it
    is on the disk. `without`: a rule that is switched off."""

    group: str
    name: str
    peers: Mapping[str, str]
    secret: str = ""
    flushes: bool = False
    file_octets: int = LEDGER_FILE_OCTETS
    without: Rule | None = None
    times: BrokerTimes = BrokerTimes()

    @property
    def others(self) -> list[str]:
        return [name for name in self.peers if name != self.name]

    @property
    def majority(self) -> int:
        return len(self.peers) // 2 + 1

    @property
    def folder(self) -> str:
        return f"dledger-{self.name}"

    def keeps(self, rule: Rule) -> bool:
        return self.without is not rule


def of_broker(config: BrokerSettings) -> MemberSettings:
    """Raises ValueError."""
    peers, name = config.members, config.d_leger_self_id
    if name not in peers or not config.d_leger_group:
        raise ValueError(f"dLegerSelfId: {name!r} is no member of dLegerPeers, or has no group")
    return MemberSettings(
        group=config.d_leger_group,
        name=name,
        peers=peers,
        secret=config.peer_secret,
        flushes=config.flush_disk_type is Flush.SYNC_FLUSH,
        file_octets=config.mapped_file_size_commit_log,
        without=Rule(config.ledger_without) if config.ledger_without else None,
        times=config.times,
    )
