"""The management API's answers, process by process, and as the harness reads them."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from harness.systems.rabbitmq import api as rabbitmq_api
from harness.systems.rabbitmq.core import cluster_state as rabbitmq_words
from reference_impl.metadata.commands import DeletePolicy, PutPolicy
from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.nodes import FORGOTTEN, NO_MEMBER, RUNS, ForgetNode
from reference_impl.metadata.tables import Policy, Queue, Tables
from reference_impl.node.api import Api
from reference_impl.pid import Pid
from reference_impl.process import (
    API,
    NO_CONNECTION,
    SUPERVISOR,
    Answer,
    ApiRequest,
    Arm,
    Committed,
    Disarm,
    Down,
    Effect,
    Send,
    Timeout,
    Transact,
)
from reference_impl.protocol.connections import (
    CloseConnection,
    Connections,
    Described,
    ListConnections,
)
from reference_impl.protocol.queues import (
    CancelSync,
    Delete,
    DeleteRecord,
    Done,
    Look,
    Looked,
    LookHere,
    Purge,
    Refused,
    Synchronise,
)

ME = Pid("a", 1, API)
MASTER, OLD, YOUNG = Pid("a", 1, 9), Pid("c", 1, 7), Pid("b", 1, 8)
MIRRORED = Policy("ha", "^ha[.]", {"ha-mode": "all"}, 0, "queues")


def queue(name: str = "ha.q", **fields: Any) -> Queue:
    values: dict[str, Any] = {
        "durable": True,
        "auto_delete": False,
        "owner": None,
        "arguments": {},
        "home": "a",
        "master": MASTER,
        "mirrors": (OLD, YOUNG),
        "synchronised": (YOUNG, OLD),
        "recoverable": ("b", "c"),
    }
    return Queue(name=name, **{**values, **fields})


@dataclass
class FakeWorld:
    node: str = "a"
    tables: Tables = field(default_factory=predeclared)
    nodes: tuple[str, ...] = ("a", "b", "c")
    apart: tuple[str, ...] = ()
    own: tuple[Described, ...] = ()
    dead: set[Pid] = field(default_factory=set)

    def running(self) -> tuple[str, ...]:
        return self.nodes

    def well_known(self, node: str, number: int) -> Pid | None:
        return Pid(node, 1, number) if node in self.nodes else None

    def alive(self, pid: Pid) -> bool:
        return pid.node in self.nodes and pid not in self.dead

    def connections(self) -> tuple[Described, ...]:
        return self.own

    def alarms(self) -> dict[str, frozenset[str]]:
        return {}

    def now_ms(self) -> int:
        return 0

    def partitions(self) -> tuple[str, ...]:
        return self.apart


class Asking:
    """The API of node a, and who asks it."""

    def __init__(self, **world: Any) -> None:
        self.world = FakeWorld(**world)
        self.world.tables.policies["ha"] = MIRRORED
        self.api = Api(ME, self.world)  # type: ignore[arg-type]

    def has(self, *queues: Queue) -> "Asking":
        self.world.tables.queues.update({one.name: one for one in queues})
        return self

    def ask(self, method: str, target: str, body: bytes = b"") -> list[Effect]:
        path, _, query = target.partition("?")
        return self.api.handle(ApiRequest(1, method, path, query, body))

    def get(self, target: str) -> Any:
        """What is answered at once."""
        (answer,) = self.ask("GET", target)
        assert isinstance(answer, Answer) and answer.status == 200, answer
        return msgspec.json.decode(answer.body)

    def status(self, method: str, target: str, body: bytes = b"") -> int:
        (answer,) = self.ask(method, target, body)
        assert isinstance(answer, Answer)
        return answer.status


def sent(effects: list[Effect]) -> list[tuple[Pid, Any]]:
    return [(effect.to, effect.body) for effect in effects if isinstance(effect, Send)]


def timer(effects: list[Effect]) -> str:
    (name,) = (effect.name for effect in effects if isinstance(effect, Arm))
    return name


def answered(effects: list[Effect]) -> tuple[int, Any]:
    (answer,) = (effect for effect in effects if isinstance(effect, Answer))
    return answer.status, msgspec.json.decode(answer.body) if answer.body else None


# --- queues


def test_a_queue_names_its_master_and_its_mirrors_by_age() -> None:
    words = Asking().has(queue()).get(rabbitmq_api.queue_path("ha.q"))
    assert words["node"] == "rabbit@a"
    assert words["slave_nodes"] == ["rabbit@c", "rabbit@b"]
    assert words["synchronised_slave_nodes"] == ["rabbit@b", "rabbit@c"]
    assert words["recoverable_slaves"] == ["rabbit@b", "rabbit@c"]
    assert (words["state"], words["policy"]) == ("running", "ha")
    roles = rabbitmq_words.roles_of(words)
    assert (roles.master, roles.mirrors, roles.synchronised) == ("a", ("c", "b"), ("c", "b"))


def test_a_mirrors_node_reports_how_much_it_holds_itself() -> None:
    own = Pid("a", 1, 5)
    asking = Asking().has(queue(master=OLD, mirrors=(own, YOUNG)))
    effects = asking.ask("GET", rabbitmq_api.held_path("ha.q"))
    assert sent(effects) == [(own, LookHere(ME, 1))]
    status, words = answered(asking.api.handle(Looked(1, 7, 0, 0)))
    assert (status, words["held_here"]) == (200, 7)


def test_a_node_without_a_mirror_reports_none() -> None:
    assert Asking().has(queue()).get(rabbitmq_api.held_path("ha.q"))["held_here"] is None


def test_without_statistics_no_query_is_sent() -> None:
    words = Asking().has(queue()).get(rabbitmq_api.QUEUES)
    assert [(one["name"], "messages" in one) for one in words] == [("ha.q", False)]


def test_counts_are_the_masters() -> None:
    asking = Asking().has(queue(), queue("ha.r", master=YOUNG))
    effects = asking.ask("GET", "/api/queues")
    assert sent(effects) == [(MASTER, Look(ME, 1)), (YOUNG, Look(ME, 2))]
    assert asking.api.handle(Looked(1, 5, 2, 1)) == []
    status, (first, second) = answered(asking.api.handle(Looked(2, 0, 0, 0)))
    assert status == 200
    counts = ("messages", "messages_ready", "messages_unacknowledged", "consumers")
    assert [first[name] for name in counts] == [7, 5, 2, 1]
    assert [second[name] for name in counts] == [0, 0, 0, 0]


def test_the_lines_in_which_messages_wait_are_the_masters_too() -> None:
    asking = Asking().has(queue())
    asking.ask("GET", "/api/queues/%2F/ha.q")
    lengths = {"q1": 1, "q2": 2, "delta": 3, "q3": 4, "q4": 5}
    status, words = answered(asking.api.handle(Looked(1, 15, 0, 0, None, lengths, 7)))
    expected = {**lengths, "len": 15, "mode": "default", "target_ram_count": 7}
    assert (status, words["backing_queue_status"]) == (200, expected)


def test_a_hanging_master_costs_only_its_own_counts() -> None:
    asking = Asking().has(queue(), queue("ha.r", master=YOUNG))
    name = timer(asking.ask("GET", "/api/queues"))
    asking.api.handle(Looked(1, 5, 2, 1))
    status, (first, second) = answered(asking.api.handle(Timeout(name)))
    assert (status, first["messages"]) == (200, 7)
    assert "messages" not in second
    assert asking.api.handle(Looked(2, 0, 0, 0)) == [], "it is late"


def test_a_master_that_dies_during_a_query_is_not_awaited() -> None:
    asking = Asking().has(queue())
    asking.ask("GET", "/api/queues/%2F/ha.q")
    status, words = answered(asking.api.handle(Down(MASTER, NO_CONNECTION)))
    assert status == 200
    assert "messages" not in words


def test_a_mirrored_queue_with_a_down_master_names_its_home() -> None:
    asking = Asking(nodes=("b", "c"), node="b")
    asking.has(queue(master=None, mirrors=(), synchronised=()))
    words = asking.get("/api/queues/%2F/ha.q")
    assert (words["node"], words["state"]) == ("rabbit@a", "down")
    assert rabbitmq_words.master_of(words) is None
    assert [one["state"] for one in asking.get("/api/queues")] == ["down"]


def test_an_unmirrored_queue_without_its_home_is_listed_but_404() -> None:
    asking = Asking(nodes=("b", "c"), node="b").has(queue("plain", mirrors=(), synchronised=()))
    assert [one["state"] for one in asking.get("/api/queues/%2F")] == ["down"]
    assert asking.status("GET", "/api/queues/%2F/plain") == 404


def test_an_absent_mirrored_queue_is_listed_as_down_but_404() -> None:
    """Answer 404 for a mirrored queue whose home never came back after all nodes were down."""
    asking = Asking(nodes=("b", "c"), node="b")
    asking.has(queue(master=None, mirrors=(), synchronised=(), is_absent=True))
    assert [one["state"] for one in asking.get("/api/queues/%2F")] == ["down"]
    assert asking.status("GET", "/api/queues/%2F/ha.q") == 404


def test_names_are_percent_encoded_and_other_vhosts_are_unknown() -> None:
    asking = Asking().has(queue("a/b c"))
    assert asking.get(rabbitmq_api.queue_path("a/b c"))["name"] == "a/b c"
    assert asking.status("GET", "/api/queues/other/x") == 404


def test_a_queue_is_deleted_by_its_master() -> None:
    asking = Asking().has(queue())
    effects = asking.ask("DELETE", "/api/queues/%2F/ha.q?if-empty=true")
    assert sent(effects) == [(MASTER, Delete(ME, 1, False, True))]
    assert answered(asking.api.handle(Done(1, 3))) == (204, None)


def test_a_refused_deletion_is_a_bad_request_with_the_reason() -> None:
    asking = Asking().has(queue())
    asking.ask("DELETE", "/api/queues/%2F/ha.q?if-unused=true")
    status, words = answered(asking.api.handle(Refused(1, 406, "in use")))
    assert (status, words["reason"]) == (400, "in use")


def test_a_queue_without_a_master_is_deleted_by_the_supervisor() -> None:
    asking = Asking().has(queue(master=None, mirrors=()))
    effects = asking.ask("DELETE", "/api/queues/%2F/ha.q")
    assert sent(effects) == [(Pid("a", 1, SUPERVISOR), DeleteRecord(ME, 1, "ha.q"))]


def test_an_unconfirmed_deletion_is_no_success() -> None:
    asking = Asking().has(queue())
    name = timer(asking.ask("DELETE", "/api/queues/%2F/ha.q"))
    assert answered(asking.api.handle(Timeout(name)))[0] == 500
    asking.ask("DELETE", "/api/queues/%2F/ha.q")
    assert answered(asking.api.handle(Down(MASTER, NO_CONNECTION)))[0] == 500


def test_contents_are_purged_by_the_master() -> None:
    asking = Asking().has(queue())
    effects = asking.ask("DELETE", "/api/queues/%2F/ha.q/contents")
    assert sent(effects) == [(MASTER, Purge(ME, 1))]
    assert answered(asking.api.handle(Done(1, 9))) == (204, None)


@pytest.mark.parametrize(
    ("action", "message"), [("sync", Synchronise), ("cancel_sync", CancelSync)]
)
def test_a_sync_request_goes_to_the_master_and_returns_immediately(
    action: str, message: type
) -> None:
    asking = Asking().has(queue())
    body = msgspec.json.encode({"action": action})
    effects = asking.ask("POST", "/api/queues/%2F/ha.q/actions", body)
    assert sent(effects) == [(MASTER, message())]
    assert answered(effects) == (204, None)


@pytest.mark.parametrize(
    "body",
    [b"", b'{"action": "dance"}', b"[]", b'{"action": "\xff"}', b'{"x": ' + b"[" * 100_000],
    ids=["nothing", "a dance", "a list", "no UTF-8", "nested too deeply"],
)
def test_an_unknown_action_is_a_bad_request(body: bytes) -> None:
    asking = Asking().has(queue())
    assert asking.status("POST", "/api/queues/%2F/ha.q/actions", body) == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/queues/%2F/none"),
        ("DELETE", "/api/queues/%2F/none"),
        ("DELETE", "/api/queues/%2F/none/contents"),
        ("POST", "/api/queues/%2F/none/actions"),
        ("GET", "/api/policies/%2F/none"),
        ("GET", "/api/nodes/rabbit@none"),
        ("GET", "/api/whatever"),
        ("GET", "/"),
    ],
)
def test_absent_resources_are_404(method: str, path: str) -> None:
    assert Asking().status(method, path, b'{"action": "sync"}') == 404


def test_a_method_that_a_path_has_not_is_not_allowed() -> None:
    assert Asking().status("POST", "/api/overview") == 405


# --- policies


def test_a_policy_is_answered_when_every_node_has_it() -> None:
    asking = Asking()
    body = msgspec.json.encode(
        {"pattern": "^q", "definition": {"ha-mode": "all"}, "apply-to": "queues", "priority": 0}
    )
    effects = asking.ask("PUT", rabbitmq_api.policy_path("p"), body)
    policy = Policy("p", "^q", {"ha-mode": "all"}, 0, "queues")
    assert Transact(1, PutPolicy(policy)) in effects
    assert not any(isinstance(effect, Answer) for effect in effects)
    assert answered(asking.api.handle(Committed(1, True))) == (201, None)
    asking.ask("PUT", rabbitmq_api.policy_path("p"), body)
    assert answered(asking.api.handle(Committed(2, False))) == (204, None)


def test_a_policy_that_a_hanging_node_blocks_is_an_error() -> None:
    asking = Asking()
    body = b'{"pattern": "^q", "definition": {"ha-mode": "all"}}'
    name = timer(asking.ask("PUT", "/api/policies/%2F/p", body))
    assert answered(asking.api.handle(Timeout(name)))[0] == 500


def test_an_invalid_policy_is_a_bad_request_and_changes_nothing() -> None:
    effects = Asking().ask("PUT", "/api/policies/%2F/p", b'{"pattern": "q", "definition": {}}')
    assert [type(effect) for effect in effects] == [Answer]
    assert answered(effects)[0] == 400


def test_a_policy_is_deleted_once() -> None:
    asking = Asking()
    assert Transact(1, DeletePolicy("ha")) in asking.ask("DELETE", "/api/policies/%2F/ha")
    assert answered(asking.api.handle(Committed(1, True))) == (204, None)
    asking.ask("DELETE", "/api/policies/%2F/ha")
    assert answered(asking.api.handle(Committed(2, False)))[0] == 404


def test_policies_are_worded_as_they_were_put() -> None:
    wanted = {
        "vhost": "/",
        "name": "ha",
        "pattern": "^ha[.]",
        "apply-to": "queues",
        "definition": {"ha-mode": "all"},
        "priority": 0,
    }
    assert Asking().get("/api/policies") == [wanted]
    assert Asking().get("/api/policies/%2F/ha") == wanted


# --- nodes and the whole


def test_running_nodes_are_listed_and_partitions_are_the_nodes_own() -> None:
    asking = Asking(nodes=("a", "b"), apart=("c",))
    listed = asking.get(rabbitmq_api.NODES)
    assert {one["name"]: one["running"] for one in listed} == {
        "rabbit@a": True,
        "rabbit@b": True,
        "rabbit@c": False,
    }
    assert listed[0]["partitions"] == ["rabbit@c"]
    assert rabbitmq_words.runs("b", listed) and not rabbitmq_words.runs("c", listed)


def test_members_that_are_down_are_listed_as_well() -> None:
    asking = Asking(nodes=("a", "b"))
    asking.world.tables.nodes = ("a", "b", "d")
    assert rabbitmq_words.members(asking.get(rabbitmq_api.NODES)) == ("a", "b", "d")
    assert not rabbitmq_words.runs("d", asking.get(rabbitmq_api.NODES))


@pytest.mark.parametrize("name", ["d", "rabbit@d"])
def test_a_node_is_forgotten_when_every_node_knows_it(name: str) -> None:
    asking = Asking()
    effects = asking.ask("DELETE", f"/api/nodes/{name}")
    assert effects[0] == Transact(1, ForgetNode("d", ("a", "b", "c")))
    assert answered(asking.api.handle(Committed(1, FORGOTTEN))) == (204, None)


def test_forgetting_an_unknown_or_running_node_fails_and_says_why() -> None:
    asking = Asking()
    asking.ask("DELETE", "/api/nodes/d")
    asking.ask("DELETE", "/api/nodes/b")
    status, words = answered(asking.api.handle(Committed(1, NO_MEMBER)))
    assert (status, words["reason"]) == (400, "The node d is not in the cluster.")
    status, words = answered(asking.api.handle(Committed(2, RUNS)))
    assert status == 400 and words["reason"].startswith("The node b is running")


def test_columns_are_the_requested_ones() -> None:
    (first, *_) = Asking().get("/api/nodes?columns=name,running")
    assert first == {"name": "rabbit@a", "running": True}


def test_the_overview_names_the_imitated_version_and_the_product() -> None:
    words = Asking().get(rabbitmq_api.OVERVIEW)
    assert words["rabbitmq_version"] == "3.10.8"
    assert set(words) == {"rabbitmq_version", "erlang_version"}
    assert Asking().get("/api/overview")["product_name"] == "mqproof reference"


def test_a_node_is_critical_if_a_queue_lacks_synchronised_mirrors() -> None:
    path = "/api/health/checks/node-is-mirror-sync-critical"
    assert Asking().has(queue()).get(path) == {"status": "ok"}
    assert Asking().has(queue("plain", synchronised=())).get(path) == {"status": "ok"}
    assert Asking().has(queue(master=YOUNG, synchronised=())).get(path) == {"status": "ok"}
    status, words = answered(Asking().has(queue(synchronised=())).ask("GET", path))
    assert (status, [one["name"] for one in words["queues"]]) == (503, ["ha.q"])


# --- connections

HERE = Described(Pid("a", 1, 20), "127.0.0.1:5 -> 127.0.0.1:5672", "run7.publisher")
THERE = Described(Pid("b", 1, 21), "127.0.0.1:6 -> 127.0.0.2:5672", "")


def test_connections_are_those_of_every_running_node() -> None:
    asking = Asking(own=(HERE,))
    effects = asking.ask("GET", rabbitmq_api.CONNECTIONS)
    assert sent(effects) == [
        (Pid("b", 1, API), ListConnections(ME, 1)),
        (Pid("c", 1, API), ListConnections(ME, 2)),
    ]
    asking.api.handle(Connections(1, (THERE,)))
    assert answered(asking.api.handle(Connections(2, ()))) == (
        200,
        [
            {"name": HERE.name, "user_provided_name": "run7.publisher"},
            {"name": THERE.name, "user_provided_name": ""},
        ],
    )


def test_lost_nodes_connections_vanish_but_those_of_silent_are_unknown() -> None:
    asking = Asking(own=(HERE,))
    asking.ask("GET", "/api/connections")
    asking.api.handle(Connections(1, ()))
    status, listed = answered(asking.api.handle(Down(Pid("c", 1, API), NO_CONNECTION)))
    assert (status, len(listed)) == (200, 1)
    name = timer(asking.ask("GET", "/api/connections"))
    asking.api.handle(Connections(3, ()))
    assert answered(asking.api.handle(Timeout(name)))[0] == 500


def test_a_node_lists_its_own_connections_to_another() -> None:
    effects = Asking(own=(HERE,)).api.handle(ListConnections(Pid("b", 1, API), 5))
    assert effects == [Send(Pid("b", 1, API), Connections(5, (HERE,)))]


def test_a_connection_on_any_node_is_closed_by_its_process() -> None:
    asking = Asking(nodes=("a", "b"), own=(HERE,))
    asking.ask("DELETE", rabbitmq_api.connection_path(THERE.name))
    effects = asking.api.handle(Connections(1, (THERE,)))
    assert sent(effects) == [(THERE.pid, CloseConnection("Closed via management plugin"))]
    assert answered(effects) == (204, None)
    asking.ask("DELETE", rabbitmq_api.connection_path("unknown"))
    assert answered(asking.api.handle(Connections(2, (THERE,))))[0] == 404


def test_alone_a_node_answers_at_once() -> None:
    words = Asking(nodes=("a",), own=(HERE,)).get("/api/connections")
    assert [one["node"] for one in words] == ["rabbit@a"]


def test_a_timer_is_disarmed_when_everybody_has_answered() -> None:
    asking = Asking().has(queue())
    name = timer(asking.ask("GET", "/api/queues/%2F/ha.q"))
    assert Disarm(name) in asking.api.handle(Looked(1, 0, 0, 0))
