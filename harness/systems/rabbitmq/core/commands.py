"""PURE: the RabbitMQ command lines for an order, and where they are run.

1. `beside` runs in the container of a node that runs; `instead` in one of the same image, network
   and data that is there for this alone, while the node itself is down.
2. A node that is down is read from its disk: the command line finds it by the host's name, which
   the network brings along (rabbitmq_cli, `--offline`), and talks under the node's own name, for
   which epmd must run.
3. A node leaves and joins with its application stopped; its process runs on (stop_app).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.cluster.orders import (
    AddNode,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    WipeNode,
)

DATA = "/var/lib/rabbitmq/mnesia"
# Beside a node whose process runs: how far RabbitMQ itself has come in it.
BOOT_STATE = ("timeout", "20", "rabbitmqctl", "--quiet", "eval", "rabbit_boot_state:get().")
STOPPED = "stopped"
_EPMD = "epmd -daemon"
# The whole data folder is deleted, not only the nodes' tables; the cookie is in the folder above.
_WIPE = f"rm -rf {DATA} && mkdir -p {DATA} && chown rabbitmq:rabbitmq {DATA}"

_DEPTH = """case rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"%s">>)) of
  {ok, Q} ->
    Own = [P || P <- amqqueue:get_slave_pids(Q), node(P) =:= node()],
    case Own of
      [Pid] ->
        S = element(4, sys:get_state(Pid)),
        (element(4, S)):depth(element(5, S));
      _ -> none
    end;
  _ -> none
end."""


@dataclass(frozen=True, slots=True)
class Script:
    """Shell commands; each must succeed."""

    host: str
    commands: tuple[str, ...]
    instead: bool  # of the node, which is down; else beside it

    @property
    def text(self) -> str:
        return " && ".join(self.commands)


def script(order: Order) -> Script | None:
    """What carries the order out; None where the command line does not."""
    match order:
        case AddNode(host=host, through=through):
            return Script(host, _app_stopped("reset", f"join_cluster {node(through)}"), False)
        case ResetNode(host=host):
            # A node with nothing looks for its peers again when its application starts.
            return Script(host, _app_stopped("reset"), False)
        case ForgetNode(host=host, through=through, offline=False):
            return Script(through, (f"rabbitmqctl forget_cluster_node {node(host)}",), False)
        case ForgetNode(host=host, through=through):
            forget = f"rabbitmqctl forget_cluster_node --offline {node(host)}"
            return Script(through, (_EPMD, forget), True)
        case ForceBoot(host=host):
            return Script(host, (_EPMD, "rabbitmqctl force_boot"), True)
        case WipeNode(host=host):
            return Script(host, (_WIPE,), True)
    return None


def node(host: str) -> str:
    return f"rabbit@{host}"


def held(queue: str) -> list[str]:
    """Asks the node beside which it is run for the depth of its own mirror: a number, or `none`
    where it has none.

    No command tells it. The process is a gen_server2, whose state is the fourth element of its
    own record; of rabbit_mirror_queue_slave's the fourth is the backing queue, the fifth its state
    (RabbitMQ 3.8 to 3.12). Anything else raises there, and is no number here.
    """
    return ["rabbitmqctl", "-q", "eval", _DEPTH % queue]


def _app_stopped(*commands: str) -> tuple[str, ...]:
    inner: Sequence[str] = ("await_startup --timeout 60", "stop_app", *commands, "start_app")
    return tuple(f"rabbitmqctl {command}" for command in inner)
