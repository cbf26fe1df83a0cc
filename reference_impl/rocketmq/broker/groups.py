"""Groups of consumers as a broker has them configured (docs/behaviour/rocketmq.md 3.2).

The first heartbeat of a group makes it, where that may be.
"""

import msgspec

from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.registration import DataVersion
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store.disk import Disk

DOCUMENT = "config/subscriptionGroup.json"
TOOLS = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_PULL",
    "CID_ONS-HTTP-PROXY",
)


class ConsumerGroup(msgspec.Struct, frozen=True, rename="camel"):
    group_name: str
    consume_enable: bool = True
    consume_from_min_enable: bool = True
    consume_broadcast_enable: bool = True
    retry_queue_nums: int = 1
    retry_max_times: int = 16
    broker_id: int = 0
    which_broker_when_consume_slowly: int = 1
    notify_consumer_ids_changed_enable: bool = True


class Groups(msgspec.Struct, frozen=True, rename="camel"):
    subscription_group_table: dict[str, ConsumerGroup] = {}
    data_version: DataVersion = DataVersion()


class BrokerGroups:
    def __init__(self, disk: Disk, clock: Clock, config: BrokerSettings) -> None:
        self._disk = disk
        self._clock = clock
        self._made_by_consumers = config.auto_create_subscription_group
        kept = disk.document(DOCUMENT)
        stored = Groups() if kept is None else msgspec.json.decode(kept, type=Groups)
        self._table = {
            **{name: ConsumerGroup(name) for name in TOOLS},
            **stored.subscription_group_table,
        }
        self._version = stored.data_version

    def get(self, name: str) -> ConsumerGroup | None:
        return self._table.get(name)

    def wanted(self, name: str) -> ConsumerGroup | None:
        """Made where there was none, if consumers may."""
        group = self._table.get(name)
        if group is None and self._made_by_consumers and name:
            group = self.create(ConsumerGroup(name))
        return group

    def create(self, group: ConsumerGroup) -> ConsumerGroup:
        self._table[group.group_name] = group
        self._keep()
        return group

    def delete(self, name: str) -> None:
        if self._table.pop(name, None) is not None:
            self._keep()

    def copy(self, groups: Groups) -> None:
        """Copy the groups of a slave's master, if their version is another."""
        if groups.data_version != self._version:
            self._table = dict(groups.subscription_group_table)
            self._version = groups.data_version
            self._disk.keep(DOCUMENT, msgspec.json.encode(self.all()))

    def all(self) -> Groups:
        return Groups(self._table, self._version)

    def _keep(self) -> None:
        self._version = DataVersion(self._version.counter + 1, self._clock.wall_ms())
        self._disk.keep(DOCUMENT, msgspec.json.encode(self.all()))
