"""PURE: the configuration of servers with controllers (harness/systems/rocketmq/settings.py).

Controllers listen for brokers and for each other on their own port. In a name server it is a
second port (layout.ServerProcess.votes_at). The product spells its keys "DLeger".
"""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import CONTROLLER, ServerProcess, server_of
from harness.systems.rocketmq.settings import STORE, broker, name_server
from harness.systems.rocketmq_controller.layout import controllers, rules

CONTROLLERS = "controllers"  # their group's name


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if server.is_broker:
        return broker(layout, server, _replica(layout))
    if server.process == CONTROLLER:
        return _controller(layout, server)
    own = name_server(layout, server)
    if server in controllers(layout.hosts):
        own |= {"enableControllerInNamesrv": "true"} | _controller(layout, server)
    return own


def controller(layout: Layout, server: ServerProcess) -> str:
    """The id of a controller: a letter and a number."""
    return f"n{controllers(layout.hosts).index(server)}"


def _controller(layout: Layout, server: ServerProcess) -> dict[str, str]:
    peers = (
        f"{controller(layout, one)}-{one.host}:{one.votes_at}" for one in controllers(layout.hosts)
    )
    return {
        "controllerDLegerGroup": CONTROLLERS,
        "controllerDLegerPeers": ";".join(peers),
        "controllerDLegerSelfId": controller(layout, server),
        "controllerStorePath": f"{STORE}/controller",
        "enableElectUncleanMaster": _word(rules(layout).unclean),
    }


def _replica(layout: Layout) -> dict[str, str]:
    """A broker is a slave without an id until a controller has said what it is."""
    own = rules(layout)
    addresses = (f"{one.host}:{one.votes_at}" for one in controllers(layout.hosts))
    return {
        "enableControllerMode": "true",
        "controllerAddr": ";".join(addresses),
        "brokerId": "-1",
        "brokerRole": "SLAVE",
        "allAckInSyncStateSet": _word(own.all_ack),
        "inSyncReplicas": str(own.in_sync),
        "minInSyncReplicas": str(own.least_in_sync),
    }


def _word(setting: bool) -> str:
    return str(setting).lower()
