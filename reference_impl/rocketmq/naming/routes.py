"""Registered brokers, and the brokers of each topic (docs/behaviour/rocketmq.md 3.1).

1. A master's report of its topics counts, and counts again only when its version is another, or
   it was not known under its number. A slave's report of topics never counts.
2. An address has one number: a broker that comes back under another one is taken from the old.
3. Another address under a number that is taken simply takes it. There is no fencing, unless
   brokers name the epoch of their master: then only a master of that epoch or a later one takes 0.
4. A broker's name goes with its last address, and its queues in all topics with the name. Where
   only the master goes the queues stay: a route then shows its slave, and no broker to write to.
5. A topic is never forgotten otherwise, but by order.
"""

from collections.abc import Callable, Iterator

import msgspec

from reference_impl.rocketmq.registration import DataVersion, Topic, Topics

MASTER = 0
READ, WRITE = 4, 2


class Queues(msgspec.Struct, rename="camel"):
    """Of one topic on one broker."""

    broker_name: str
    perm: int
    read_queue_nums: int
    write_queue_nums: int
    topic_sys_flag: int = 0


class BrokerGroup(msgspec.Struct, rename="camel"):
    """A group of brokers under one name. `broker_addrs`: by number; 0 is the master's."""

    cluster: str
    broker_name: str
    broker_addrs: dict[int, str]


class Route(msgspec.Struct, rename="camel"):
    broker_datas: list[BrokerGroup]
    filter_server_table: dict[str, list[str]]
    queue_datas: list[Queues]


class Identity(msgspec.Struct, frozen=True):
    """The identity of a registering broker. `epoch`: of its master; 0: it names none."""

    cluster: str
    name: str
    number: int
    address: str
    epoch: int = 0


class _Live(msgspec.Struct):
    heard_ms: int
    version: DataVersion
    connection: int
    ha_address: str
    filters: list[str]


class Master(msgspec.Struct, frozen=True):
    """The master as its slave gets it; "" if it is unknown."""

    address: str = ""
    ha_address: str = ""


class Routes:
    """`note`: takes a line for the log: the real one's own words, where it has some."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._topics: dict[str, dict[str, Queues]] = {}  # by topic and broker
        self._brokers: dict[str, BrokerGroup] = {}
        self._clusters: dict[str, set[str]] = {}  # names of brokers
        self._live: dict[str, _Live] = {}  # by address
        self._epochs: dict[str, int] = {}  # of masters, by name

    def register(
        self,
        who: Identity,
        ha_address: str,
        topics: Topics,
        filters: list[str],
        connection: int,
        now_ms: int,
    ) -> Master:
        """Register a broker; return to a slave where its master is."""
        if self._is_stale(who):
            return self._master_of(who.name) if who.name in self._brokers else Master()
        is_new = self._settle(who)
        before = self._live.get(who.address)
        if before is None:
            self._note(f"new broker registered, {who.address} HAServer: {ha_address}")
        if who.number == MASTER and (
            is_new or before is None or before.version != topics.data_version
        ):
            for topic in topics.topic_config_table.values():
                self._has(who.name, topic)
        live = _Live(now_ms, topics.data_version, connection, ha_address, filters)
        self._live[who.address] = live
        return Master() if who.number == MASTER else self._master_of(who.name)

    def unregister(self, who: Identity) -> None:
        self._live.pop(who.address, None)
        broker = self._brokers.get(who.name)
        if broker is not None:
            broker.broker_addrs.pop(who.number, None)
            self._note(f"unregisterBroker, remove from brokerAddrTable OK, {who.address}")
            self._drop_if_empty(broker)

    def changed(self, address: str, version: DataVersion) -> bool:
        """Return whether a registration with this version would say anything new."""
        live = self._live.get(address)
        return live is None or live.version != version

    def version(self, address: str) -> DataVersion | None:
        live = self._live.get(address)
        return None if live is None else live.version

    def heard(self, address: str, now_ms: int) -> None:
        if address in self._live:
            self._live[address].heard_ms = now_ms

    def silent(self, before_ms: int) -> list[tuple[str, int]]:
        """Addresses that were last heard before that, with the connections they registered on."""
        return [
            (at, live.connection) for at, live in self._live.items() if live.heard_ms < before_ms
        ]

    def gone(self, connection: int) -> None:
        """Remove the address that last registered on this connection."""
        for address, live in self._live.items():
            if live.connection == connection:
                self.forget(address)
                return

    def forget(self, address: str) -> None:
        self._live.pop(address, None)
        for broker in self._brokers.values():
            for number, known in broker.broker_addrs.items():
                if known == address:
                    del broker.broker_addrs[number]
                    place = f"remove brokerAddr[{number}, {address}] from brokerAddrTable"
                    self._note(f"{place}, because channel destroyed")
                    self._drop_if_empty(broker)
                    return

    def route(self, topic: str) -> Route | None:
        """None: no broker that is known has the topic."""
        queues = self._topics.get(topic, {})
        brokers = [self._brokers[name] for name in queues if name in self._brokers]
        if not brokers:
            return None
        addresses = (at for broker in brokers for at in broker.broker_addrs.values())
        filters = {at: self._live[at].filters for at in addresses if at in self._live}
        return Route(
            brokers, {at: some for at, some in filters.items() if some}, [*queues.values()]
        )

    def topics(self) -> list[str]:
        return list(self._topics)

    def topics_of(self, cluster: str) -> list[str]:
        """With a broker of that cluster among those that have them."""
        names = self._clusters.get(cluster, set())
        return [topic for topic, queues in self._topics.items() if names & queues.keys()]

    def brokers(self) -> dict[str, BrokerGroup]:
        return self._brokers

    def clusters(self) -> dict[str, list[str]]:
        return {cluster: sorted(names) for cluster, names in self._clusters.items()}

    def delete(self, topic: str, cluster: str = "") -> None:
        """On all brokers, or on those of one cluster."""
        queues = self._topics.get(topic, {})
        for name in (
            [*queues] if not cluster else self._clusters.get(cluster, set()) & queues.keys()
        ):
            del queues[name]
        if not queues:
            self._topics.pop(topic, None)

    def permit(self, broker: str, writing: bool) -> int:
        """Permit or forbid writing to that broker; return in how many topics it has queues."""
        found = [*self._queues_of(broker)]
        for queues in found:
            queues.perm = READ | WRITE if writing else queues.perm & ~WRITE
        return len(found)

    def _is_stale(self, who: Identity) -> bool:
        """Return whether it was the master in an epoch that is over."""
        latest = self._epochs.get(who.name, 0)
        if who.number == MASTER and who.epoch < latest:
            return True
        self._epochs[who.name] = max(who.epoch, latest)
        return False

    def _settle(self, who: Identity) -> bool:
        """An address under its number. Whether the number, or the name, was not there before."""
        self._clusters.setdefault(who.cluster, set()).add(who.name)
        broker = self._brokers.setdefault(who.name, BrokerGroup(who.cluster, who.name, {}))
        addresses = broker.broker_addrs
        for number in [n for n, at in addresses.items() if at == who.address and n != who.number]:
            del addresses[number]
        is_new = who.number not in addresses
        addresses[who.number] = who.address
        return is_new

    def _has(self, broker: str, topic: Topic) -> None:
        self._topics.setdefault(topic.topic_name, {})[broker] = Queues(
            broker,
            topic.perm,
            topic.read_queue_nums,
            topic.write_queue_nums,
            topic.topic_sys_flag,
        )

    def _master_of(self, name: str) -> Master:
        address = self._brokers[name].broker_addrs.get(MASTER)
        live = self._live.get(address) if address else None
        return Master(address, live.ha_address) if address and live else Master()

    def _drop_if_empty(self, broker: BrokerGroup) -> None:
        if broker.broker_addrs:
            return
        del self._brokers[broker.broker_name]
        names = self._clusters.get(broker.cluster, set())
        names.discard(broker.broker_name)
        if not names:
            self._clusters.pop(broker.cluster, None)
        for topic in [*self._topics]:
            if self._topics[topic].pop(broker.broker_name, None) and not self._topics[topic]:
                del self._topics[topic]

    def _queues_of(self, broker: str) -> Iterator[Queues]:
        return (queues[broker] for queues in self._topics.values() if broker in queues)
