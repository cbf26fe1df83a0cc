"""Our client, set up for one worker."""

from random import Random

from harness.plan.clients.rocketmq_terms import terms
from harness.workers.clients.port import (
    ConsumingListener,
    LinkLost,
    NoLibrary,
    NotAttached,
    PublishingListener,
)
from harness.workers.clients.rocketmq.core.likeness import LIKENESSES
from harness.workers.clients.rocketmq.options import RocketOptions, attach_to
from harness.workers.clients.rocketmq.own.brokers import Brokers
from harness.workers.clients.rocketmq.own.consumer import OwnConsumer
from harness.workers.clients.rocketmq.own.name_servers import NameServers
from harness.workers.clients.rocketmq.own.producer import OwnPublisher
from harness.workers.clients.rocketmq.own.routing import Routing
from harness.workers.host_names import own_table
from harness.workers.own_ways import own_ways
from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.remoting.routes import View
from spark_analysis.schema.views import detail_of

PREFIX = "rocketmq-python-"
POLL, POLL_DEFAULT_MS = "pollNameServerInterval", 30_000


class OwnClient:
    """Raises NoLibrary."""

    answers_every_send = True

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self._options = RocketOptions.from_json(config.own)
        self._likeness = LIKENESSES[config.client.removeprefix(PREFIX)]
        self._poll_s = _poll_s(self._options)
        self.terms = terms(self._options)
        self.library = f"mqproof's own, like {self._likeness.version}"

    def window(self, wanted: int) -> int:
        return wanted

    async def publisher(self, _endpoint: Endpoint, listener: PublishingListener) -> OwnPublisher:
        """Raises LinkLost where no name server has a route to the topic, NotAttached."""
        servers, routing = self._parts(listener)
        await self._begin(routing)
        return OwnPublisher(self._config, listener, servers, routing, self._brokers())

    async def consumer(self, _endpoint: Endpoint, listener: ConsumingListener) -> OwnConsumer:
        servers, routing = self._parts(listener)
        await self._begin(routing)
        return OwnConsumer(self._config, listener, servers, routing, self._brokers())

    def _parts(
        self, listener: PublishingListener | ConsumingListener
    ) -> tuple[NameServers, Routing]:
        config = self._config
        self._wanted = attach_to(self._options, config.role, config.index)
        self._name_server = ""

        def attached(host: str) -> None:
            self._name_server = host
            listener.noticed("attached", host)

        def changed(view: View) -> None:
            listener.noticed("route", detail_of(view.brokers))

        dice = Random(config.number)
        servers = NameServers(self._likeness, config.endpoints, self._wanted, dice, attached)
        return servers, Routing(servers, config.queue, self._poll_s, changed)

    def _brokers(self) -> Brokers:
        return Brokers(self._likeness, own_table(), own_ways())

    async def _begin(self, routing: Routing) -> None:
        if why := await routing.look():
            raise LinkLost(f"no route to {self._config.queue}: {why}")
        if self._wanted not in ("", self._name_server):
            raise NotAttached(
                f"{self._config.connection_name} asks {self._name_server}, not {self._wanted}"
            )


def _poll_s(options: RocketOptions) -> float:
    """Raises NoLibrary on a setting that this client has not."""
    settings = dict(options.settings + options.producer_settings)
    poll_ms = int(settings.pop(POLL, POLL_DEFAULT_MS))
    if settings or options.jvm:
        unknown = ", ".join([*settings, *options.jvm])
        raise NoLibrary(f"our own client has no setting {unknown}; it has {POLL}")
    return poll_ms / 1000
