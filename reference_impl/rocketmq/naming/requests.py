"""The requests that a name server answers (docs/behaviour/rocketmq.md 3.1)."""

import random
from collections.abc import Mapping
from functools import partial

import msgspec

from reference_impl.rocketmq import registration
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.naming.controlling import Controlling
from reference_impl.rocketmq.naming.routes import Identity, Routes
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.remoting.proofs import NONCE, NONCE_OCTETS, is_proven
from reference_impl.rocketmq.remoting.serving import Handler, IncomingRequest

# --- Values --------------------------------------------------------------------------------------
# Values that operators keep in a name server, by namespace and name (ORDER_TOPIC_CONFIG is one).
#
# The real one keeps them in a file; here they live as long as the process.


class KeyValues:
    def __init__(self) -> None:
        self._spaces: dict[str, dict[str, str]] = {}

    def put(self, namespace: str, name: str, value: str) -> None:
        self._spaces.setdefault(namespace, {})[name] = value

    def get(self, namespace: str, name: str) -> str | None:
        return self._spaces.get(namespace, {}).get(name)

    def delete(self, namespace: str, name: str) -> None:
        self._spaces.get(namespace, {}).pop(name, None)

    def space(self, namespace: str) -> dict[str, str] | None:
        """Return a namespace; None: nothing was ever put there."""
        return self._spaces.get(namespace)


# --- Requests ------------------------------------------------------------------------------------


_ORDERED = "ORDER_TOPIC_CONFIG"
_SEE = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
# Topics that every cluster has (TopicValidator's, and each cluster's and broker's own name).
_SYSTEM_TOPICS = (
    "SELF_TEST_TOPIC",
    "TBW102",
    "SCHEDULE_TOPIC_XXXX",
    "BenchmarkTest",
    "RMQ_SYS_TRANS_HALF_TOPIC",
    "RMQ_SYS_TRACE_TOPIC",
    "RMQ_SYS_TRANS_OP_HALF_TOPIC",
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "OFFSET_MOVED_EVENT",
)


class Requests:
    """`secret`: what who registers has to know; "": nothing."""

    def __init__(
        self,
        routes: Routes,
        clock: Clock,
        configured: Mapping[str, str],
        secret: str,
        dice: random.Random,
        controlling: Controlling | None = None,
    ) -> None:
        self._routes = routes
        self._clock = clock
        self._secret = secret
        self._dice = dice
        self._nonces: dict[int, str] = {}  # by connection
        self._values = KeyValues()
        self._configured = configured
        self.handlers: dict[int, Handler] = {
            RequestCode.REGISTER_BROKER: partial(self._proven, self._register),
            RequestCode.UNREGISTER_BROKER: partial(self._proven, self._unregister),
            RequestCode.QUERY_DATA_VERSION: partial(self._proven, self._version),
            RequestCode.PEER_CHALLENGE: self._challenge,
            RequestCode.GET_ROUTEINFO_BY_TOPIC: self._route,
            RequestCode.GET_BROKER_CLUSTER_INFO: self._cluster,
            RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: self._topics,
            RequestCode.GET_TOPICS_BY_CLUSTER: self._topics_of,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS: self._system_topics,
            RequestCode.DELETE_TOPIC_IN_NAMESRV: self._delete,
            RequestCode.WIPE_WRITE_PERM_OF_BROKER: self._forbid,
            RequestCode.ADD_WRITE_PERM_OF_BROKER: self._permit,
            RequestCode.PUT_KV_CONFIG: self._put,
            RequestCode.GET_KV_CONFIG: self._get,
            RequestCode.DELETE_KV_CONFIG: self._remove,
            RequestCode.GET_KVLIST_BY_NAMESPACE: self._space,
            RequestCode.GET_NAMESRV_CONFIG: self._configuration,
        }
        if controlling is not None:
            self.handlers |= controlling.handlers
            for code, handler in controlling.proven.items():
                self.handlers[code] = partial(self._proven, handler)

    def closed(self, connection: int) -> None:
        self._nonces.pop(connection, None)

    def _challenge(self, incoming: IncomingRequest) -> Command:
        nonce = self._nonces[incoming.connection] = self._dice.randbytes(NONCE_OCTETS).hex()
        return incoming.answer(fields={NONCE: nonce})

    def _proven(self, handler: Handler, incoming: IncomingRequest) -> Command | None:
        nonce = self._nonces.get(incoming.connection, "")
        if self._secret and not is_proven(self._secret, nonce, incoming.command):
            return incoming.answer(
                Code.NO_PERMISSION, "It does not know this name server's secret"
            )
        return handler(incoming)

    def _register(self, incoming: IncomingRequest) -> Command:
        fields = incoming.fields
        compressed, checksum = fields.flag("compressed"), fields.integer("bodyCrc32", 0)
        said = registration.read(incoming.command.body, compressed, checksum)
        master = self._routes.register(
            _who(incoming),
            fields.text("haServerAddr", ""),
            said.topic_config_serialize_wrapper,
            said.filter_server_list,
            incoming.connection,
            self._clock.now_ms(),
        )
        known = {"haServerAddr": master.ha_address, "masterAddr": master.address}
        ordered = self._values.space(_ORDERED)
        body = b"" if ordered is None else _table(ordered)
        return incoming.answer(body=body, fields={name: at for name, at in known.items() if at})

    def _unregister(self, incoming: IncomingRequest) -> Command:
        self._routes.unregister(_who(incoming))
        return incoming.answer()

    def _version(self, incoming: IncomingRequest) -> Command:
        """Answer whether a registration would be news; a broker without one was heard all the
        same."""
        address = _who(incoming).address
        changed = self._routes.changed(address, registration.read_version(incoming.command.body))
        if not changed:
            self._routes.heard(address, self._clock.now_ms())
        version = self._routes.version(address)
        body = b"" if version is None else msgspec.json.encode(version)
        return incoming.answer(body=body, fields={"changed": "true" if changed else "false"})

    def _route(self, incoming: IncomingRequest) -> Command:
        topic = incoming.fields.text("topic")
        route = self._routes.route(topic)
        if route is None:
            remark = f"No topic route info in name server for the topic: {topic}{_SEE}"
            return incoming.answer(Code.TOPIC_NOT_EXIST, remark)
        return incoming.answer(body=msgspec.json.encode(route))

    def _cluster(self, incoming: IncomingRequest) -> Command:
        cluster = {
            "brokerAddrTable": self._routes.brokers(),
            "clusterAddrTable": self._routes.clusters(),
        }
        return incoming.answer(body=msgspec.json.encode(cluster))

    def _topics(self, incoming: IncomingRequest) -> Command:
        return _listed(incoming, self._routes.topics())

    def _topics_of(self, incoming: IncomingRequest) -> Command:
        return _listed(incoming, self._routes.topics_of(incoming.fields.text("cluster")))

    def _system_topics(self, incoming: IncomingRequest) -> Command:
        clusters = self._routes.clusters()
        own = [name for cluster, names in clusters.items() for name in (cluster, *names)]
        brokers = self._routes.brokers().values()
        some = next((at for one in brokers for at in one.broker_addrs.values()), "")
        return _listed(incoming, [*own, *_SYSTEM_TOPICS], some)

    def _delete(self, incoming: IncomingRequest) -> Command:
        self._routes.delete(incoming.fields.text("topic"), incoming.fields.text("clusterName", ""))
        return incoming.answer()

    def _forbid(self, incoming: IncomingRequest) -> Command:
        count = self._routes.permit(incoming.fields.text("brokerName"), writing=False)
        return incoming.answer_fields(wipeTopicCount=count)

    def _permit(self, incoming: IncomingRequest) -> Command:
        count = self._routes.permit(incoming.fields.text("brokerName"), writing=True)
        return incoming.answer_fields(addTopicCount=count)

    def _put(self, incoming: IncomingRequest) -> Command:
        namespace, name = incoming.fields.text("namespace"), incoming.fields.text("key")
        self._values.put(namespace, name, incoming.fields.text("value"))
        return incoming.answer()

    def _get(self, incoming: IncomingRequest) -> Command:
        namespace, name = incoming.fields.text("namespace"), incoming.fields.text("key")
        value = self._values.get(namespace, name)
        if value is None:
            remark = f"No config item, Namespace: {namespace} Key: {name}"
            return incoming.answer(Code.QUERY_NOT_FOUND, remark)
        return incoming.answer_fields(value=value)

    def _remove(self, incoming: IncomingRequest) -> Command:
        self._values.delete(incoming.fields.text("namespace"), incoming.fields.text("key"))
        return incoming.answer()

    def _space(self, incoming: IncomingRequest) -> Command:
        namespace = incoming.fields.text("namespace")
        values = self._values.space(namespace)
        if values is None:
            remark = f"No config item, Namespace: {namespace}"
            return incoming.answer(Code.QUERY_NOT_FOUND, remark)
        return incoming.answer(body=_table(values))

    def _configuration(self, incoming: IncomingRequest) -> Command:
        text = "".join(f"{name}={value}\n" for name, value in self._configured.items())
        return incoming.answer(body=text.encode())


def _who(incoming: IncomingRequest) -> Identity:
    fields = incoming.fields
    return Identity(
        fields.text("clusterName"),
        fields.text("brokerName"),
        fields.long("brokerId"),
        fields.text("brokerAddr"),
        fields.integer("masterEpoch", 0),
    )


def _table(values: Mapping[str, str]) -> bytes:
    return msgspec.json.encode({"table": values})


def _listed(incoming: IncomingRequest, topics: list[str], broker: str = "") -> Command:
    topic_list = {"brokerAddr": broker or None, "topicList": topics}
    return incoming.answer(body=msgspec.json.encode(topic_list))
