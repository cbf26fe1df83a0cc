"""The settings of name servers and brokers, under the names that the real ones know.

1. Every time that a timer has stands in a class of times, in milliseconds, with its real default;
   `over` divides all of them by one factor, so that ten minutes pass in one.
2. Sources of defaults: docs/behaviour/rocketmq.md 1.
"""

from enum import StrEnum
from typing import Annotated, TypeVar

import msgspec

from reference_impl.misbehave.kinds import SHARE

T = TypeVar("T", bound=msgspec.Struct)


class NameServerTimes(msgspec.Struct, frozen=True, rename="camel"):
    scan_first: int = 5_000
    scan_not_active_broker_interval: int = 10_000
    broker_channel_expired_time: int = 120_000
    server_channel_max_idle_time: int = 120_000
    replica_expiry: int = 10_000


class BrokerTimes(msgspec.Struct, frozen=True, rename="camel"):
    """The times of a broker. Those of long polling, of copying a master's tables and of a ledger
    have no names in the real one."""

    register_first: int = 10_000
    register_name_server_period: int = 30_000
    register_broker_timeout_mills: int = 6_000
    server_channel_max_idle_time: int = 120_000
    long_polling_recheck: int = 5_000
    flush_consumer_offset_interval: int = 5_000
    flush_interval_commit_log: int = 500
    flush_commit_log_thorough_interval: int = 10_000
    rebalance_lock_max_live_time: int = 60_000
    sync_flush_timeout: int = 5_000
    slave_timeout: int = 3_000
    ha_send_heartbeat_interval: int = 5_000
    ha_housekeeping_interval: int = 20_000
    ha_reconnect: int = 5_000
    copy_tables_first: int = 3_000
    copy_tables: int = 10_000
    copy_tables_timeout: int = 3_000
    delay_first: int = 1_000
    delay_idle: int = 100
    delay_units: int = 1_000  # a second of the levels' delays
    transaction_time_out: int = 6_000
    transaction_check_interval: int = 60_000
    ledger_heartbeat: int = 2_000
    ledger_vote_min: int = 300
    ledger_vote_max: int = 1_000
    ledger_vote_wait: int = 2_000
    ledger_ack_limit: int = 2_500
    ledger_call_limit: int = 3_000
    ledger_commit: int = 1_000
    ledger_retry: int = 500
    ledger_redial: int = 1_000
    ledger_checkpoint: int = 3_000
    replica_beat: int = 1_000
    replica_lease: int = 7_000
    replica_check: int = 2_000
    replica_out: int = 15_000
    replica_redial: int = 500


# What name servers and brokers prove to each other that they know; "": nothing, as the real ones.
Secret = Annotated[str, msgspec.Meta(pattern="^(|.{16,255})$")]


class NameServer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    listen_port: int = 9876
    bind_address: str = "127.0.0.1"
    peer_secret: Secret = ""
    control_peers: str = ""  # "s0-host:port" each, parted by semicolons; "": no control node
    control_self_id: str = ""
    control_without: str = ""  # rules that are switched off (ctgmq/rules.py), parted by commas
    control_file_octets: int = 1 << 20
    store_path_root_dir: str = "store"
    host_addresses: str = ""  # as a broker's
    times: NameServerTimes = NameServerTimes()

    @property
    def addresses(self) -> dict[str, str]:
        """By host."""
        return _addresses(self.host_addresses)

    @property
    def control_members(self) -> dict[str, str]:
        return _members(self.control_peers)


class Role(StrEnum):
    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"
    SLAVE = "SLAVE"


class Flush(StrEnum):
    ASYNC_FLUSH = "ASYNC_FLUSH"
    SYNC_FLUSH = "SYNC_FLUSH"


class BrokerSettings(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One broker. `namesrv_addr`: "host:port" each, parted by semicolons. `host_addresses`:
    "host=address" each, parted by commas, where no resolver knows hosts' names."""

    broker_name: str
    broker_id: int = 0
    broker_cluster_name: str = "DefaultCluster"
    broker_ip1: str = msgspec.field(default="127.0.0.1", name="brokerIP1")
    bind_address: str = "127.0.0.1"
    listen_port: int = 10911
    ha_listen_port: int | None = None  # None: the one after its own
    namesrv_addr: str = ""
    host_addresses: str = ""
    broker_role: Role = Role.ASYNC_MASTER
    flush_disk_type: Flush = Flush.ASYNC_FLUSH
    auto_create_topic_enable: bool = True
    auto_create_subscription_group: bool = True
    default_topic_queue_nums: int = 8
    max_message_size: int = 4 * 1024 * 1024
    mapped_file_size_commit_log: int = 1 << 30
    mapped_file_size_consume_queue: int = 300_000 * 20
    store_path_root_dir: str = "store"
    flush_commit_log_least_pages: int = 4
    ha_slave_fallbehind_max: int = 256 * 1024 * 1024
    ha_transfer_batch_size: int = 32 * 1024
    transaction_check_max: int = 15
    enable_d_leger_commit_log: bool = False
    d_leger_group: str = ""
    d_leger_peers: str = ""  # "n0-host:port" each, parted by semicolons
    d_leger_self_id: str = ""
    enable_ctgmq: bool = False  # a control node decides who is master
    min_in_sync_replicas: int = 1
    replica_truncation: str = "epochs"
    replica_without: str = ""  # rules that are switched off (ctgmq/rules.py), parted by commas
    ledger_without: str = ""  # a rule that is switched off (dledger/rules.py)
    peer_secret: Secret = ""
    misbehave: str = ""  # a kind; "": it is honest (broker/misbehaving.py)
    misbehave_share: float = SHARE
    misbehave_seed: int = 0
    misbehave_truth: str = ""  # the file in which it says to whom
    times: BrokerTimes = BrokerTimes()

    @property
    def address(self) -> str:
        return f"{self.broker_ip1}:{self.listen_port}"

    @property
    def ha_address(self) -> str:
        return f"{self.broker_ip1}:{self.copies_port}"

    @property
    def copies_port(self) -> int:
        return self.listen_port + 1 if self.ha_listen_port is None else self.ha_listen_port

    @property
    def name_servers(self) -> list[str]:
        return [one.strip() for one in self.namesrv_addr.split(";") if one.strip()]

    @property
    def addresses(self) -> dict[str, str]:
        """By host."""
        return _addresses(self.host_addresses)

    @property
    def members(self) -> dict[str, str]:
        """Addresses of a DLedger group's members, by name."""
        return _members(self.d_leger_peers)

    @property
    def peer_name(self) -> str:
        """In its master's and its slaves' eyes."""
        return f"{self.broker_name}/{self.broker_id}"

    @property
    def master_name(self) -> str:
        return f"{self.broker_name}/0"

    @property
    def is_slave(self) -> bool:
        return self.broker_role is Role.SLAVE


def _addresses(text: str) -> dict[str, str]:
    pairs = (one.partition("=") for one in text.split(",") if one.strip())
    return {host.strip(): address.strip() for host, _, address in pairs}


def _members(text: str) -> dict[str, str]:
    pairs = (one.partition("-") for one in text.split(";") if one.strip())
    return {name.strip(): address.strip() for name, _, address in pairs}


def over(times: T, factor: float) -> T:
    """The same timers, each by this factor shorter; at least a millisecond."""
    names = times.__struct_fields__
    shorter = {name: max(1, round(getattr(times, name) / factor)) for name in names}
    return msgspec.structs.replace(times, **shorter)
