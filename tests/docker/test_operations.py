"""Operators' deeds on a real cluster of their own: each is seen by what the brokers say of it.

What is independent of the operator: the engine's own word on processes, the management API's lists
of nodes, queues and policies, and the messages that a whole run counted.
"""

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.core.actions import Kill, Start
from harness.cluster.orders import (
    AddNode,
    CancelSync,
    DeletePolicy,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    SetPolicy,
    Synchronise,
    WipeNode,
)
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Roles
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.model import OperationPlan, RunPlan
from harness.run.operations import afterwards
from harness.run_folder.journal import read, standing
from harness.run_folder.manifest import Manifest
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.api import ManagementApi, policy_path, urls
from tests.docker.conftest import Play
from tests.docker.whole_runs import Done, counts, run
from tests.rigs.runs.plans import operated, operation, plan

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

SERVES_LIMIT_S = 120.0
MEMBERS_LIMIT_S = 60.0
TWO, THREE = {"rmq1", "rmq2"}, {"rmq1", "rmq2", "rmq3"}
SPARE, FOUR = {"rmq4"}, {"rmq1", "rmq2", "rmq3", "rmq4"}
# Three brokers that stop and start one after another on two cores take half of that.
RUN_LIMIT_S = 400.0
QUEUE = "mqproof.operations-test.orders"


@pytest.fixture
def fresh(play: Play, tmp_path: Path) -> Iterator[ComposeCluster]:
    """Operations make another cluster of it: each test has one of its own, with a spare host."""
    layout = load_layout("rabbitmq-mirrored", "all-automatic-spare")
    cluster = play(ComposeDeployment(equip).up(layout, tmp_path, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


async def carry_out(cluster: ComposeCluster, *orders: Order) -> list[str]:
    return [await cluster.operator.carry_out(order) for order in orders]


async def members(cluster: ComposeCluster, host: str, wanted: set[str]) -> set[str]:
    """The nodes that a host lists, running or not, by its own word; as soon as it is these.

    The test does not wait for a spare host before, and the API of a node that just started lags.
    """
    addresses = {h.name: h.address for h in (*cluster.layout.hosts, *cluster.layout.spares)}
    api = ManagementApi(cluster.agent, urls(addresses))

    async def look() -> set[str]:
        reply = await api.ask(host, "/api/nodes")
        listed = reply.body if reply is not None and reply.status == 200 else []
        return {str(row["name"]).removeprefix("rabbit@") for row in listed}

    return await until(look, lambda found: found == wanted, MEMBERS_LIMIT_S)


async def down(cluster: ComposeCluster, *hosts: str) -> None:
    for host in hosts:
        await cluster.executor.perform(Kill(host))
        await until(
            lambda host=host: cluster.witness.process(host),  # type: ignore[misc]
            lambda state: not state.running,
            SERVES_LIMIT_S,
        )


async def up(cluster: ComposeCluster, *hosts: str) -> None:
    for host in hosts:
        await cluster.executor.perform(Start(host))
        reply = await until(
            lambda host=host: cluster.witness.greets(host),  # type: ignore[misc]
            lambda reply: reply.answered,
            SERVES_LIMIT_S,
        )
        assert reply.answered, host


def test_spare_host_stands_alone_and_joins_when_added(fresh: ComposeCluster, play: Play) -> None:
    assert play(members(fresh, "rmq4", SPARE)) == SPARE
    assert play(members(fresh, "rmq1", THREE)) == THREE
    play(carry_out(fresh, AddNode("rmq4", "rmq1")))
    assert play(members(fresh, "rmq1", FOUR)) == FOUR
    assert play(members(fresh, "rmq4", FOUR)) == FOUR


def test_only_a_stopped_node_is_forgotten(fresh: ComposeCluster, play: Play) -> None:
    with pytest.raises(DeployError, match="status"):
        play(carry_out(fresh, ForgetNode("rmq3", "rmq1", offline=False)))
    play(down(fresh, "rmq3"))
    play(carry_out(fresh, ForgetNode("rmq3", "rmq1", offline=False)))
    assert play(members(fresh, "rmq1", TWO)) == TWO
    play(carry_out(fresh, WipeNode("rmq3")))
    play(up(fresh, "rmq3"))
    assert play(members(fresh, "rmq1", THREE)) == THREE, "it joined as a new one"


def test_a_node_that_is_reset_comes_back_as_a_member(fresh: ComposeCluster, play: Play) -> None:
    play(carry_out(fresh, ResetNode("rmq2")))
    assert play(members(fresh, "rmq1", THREE)) == THREE
    assert play(fresh.health(SERVES_LIMIT_S)).clean


def test_forced_boot_starts_a_node_that_stopped_earlier_alone(
    fresh: ComposeCluster, play: Play
) -> None:
    """Boot a node alone by force although it was not the last one to stop."""
    with pytest.raises(DeployError, match="that is for a node that is down"):
        play(carry_out(fresh, ForceBoot("rmq1")))
    play(down(fresh, "rmq1", "rmq2", "rmq3"))
    play(carry_out(fresh, ForceBoot("rmq1")))
    play(up(fresh, "rmq1"))


def test_last_node_is_forgotten_offline_and_the_other_boots(
    fresh: ComposeCluster, play: Play
) -> None:
    play(down(fresh, "rmq1", "rmq2", "rmq3"))
    play(carry_out(fresh, WipeNode("rmq3"), ForgetNode("rmq3", "rmq2", offline=True)))
    play(up(fresh, "rmq2", "rmq1"))
    assert play(members(fresh, "rmq2", TWO)) == TWO
    play(up(fresh, "rmq3"))
    assert play(members(fresh, "rmq2", THREE)) == THREE


def test_a_policy_is_changed_and_removed_and_the_queue_follows(
    fresh: ComposeCluster, play: Play
) -> None:
    play(fresh.broker.declare(QUEUE, True, "rmq1"))
    single = (("ha-mode", "exactly"), ("ha-params", 1))
    play(carry_out(fresh, SetPolicy("mqproof", r"^mqproof\.", single, 0)))
    assert _mirrors(play, fresh, 0) == ()
    double = (("ha-mode", "exactly"), ("ha-params", 2), ("ha-sync-mode", "manual"))
    play(carry_out(fresh, SetPolicy("mqproof", r"^mqproof\.", double, 0)))
    assert len(_mirrors(play, fresh, 1)) == 1
    play(carry_out(fresh, Synchronise(QUEUE), CancelSync(QUEUE), DeletePolicy("mqproof")))
    assert _mirrors(play, fresh, 0) == ()
    reply = play(
        ManagementApi(fresh.agent, urls({"rmq2": "rmq2"})).ask("rmq2", policy_path("mqproof"))
    )
    assert reply is not None
    assert reply.status == 404


def test_brokers_distinguish_completed_orders_from_failed_ones(
    fresh: ComposeCluster, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(fresh.broker.declare(QUEUE, True, "rmq1"))
    single = SetPolicy("mqproof", r"^mqproof\.", (("ha-mode", "exactly"), ("ha-params", 2)), 0)
    add, delete = AddNode("rmq4", "rmq2"), DeletePolicy("mqproof")
    forget = ForgetNode("rmq3", "rmq1", offline=False)

    async def roles() -> dict[str, Roles]:
        return {QUEUE: await fresh.broker.roles(QUEUE)}

    before = play(roles())
    assert afterwards.confirms_reset("rmq1", before)
    looks: list[tuple[Order, Callable[[], Coroutine[Any, Any, None]]]] = [
        (ResetNode("rmq1"), lambda: afterwards.of_reset("rmq1", before, roles)),
        (add, lambda: afterwards.of_members(fresh.broker, add)),
        (single, lambda: afterwards.of_policy(fresh.broker, single)),
        (delete, lambda: afterwards.of_policy(fresh.broker, delete)),
        (forget, lambda: afterwards.of_members(fresh.broker, forget)),
    ]
    for order, look in looks:
        if order is forget:
            play(down(fresh, "rmq3"))
        monkeypatch.setattr(afterwards, "LOOK_LIMIT_S", 1.0)
        with pytest.raises(DeployError, match="within 1 s"):
            play(look())
        monkeypatch.undo()
        play(carry_out(fresh, order))
        play(look())


def test_policy_that_names_one_node_makes_its_mirror_master(
    fresh: ComposeCluster, play: Play
) -> None:
    """RabbitMQ has no word for it: this is how an operator promotes."""
    play(fresh.broker.declare(QUEUE, True, "rmq1"))
    assert len(_mirrors(play, fresh, 2)) == 2
    alone = (("ha-mode", "nodes"), ("ha-params", ("rabbit@rmq2",)))
    play(carry_out(fresh, SetPolicy("mqproof", r"^mqproof\.", alone, 0)))

    def moved(roles: Roles) -> bool:
        return (roles.master, roles.mirrors) == ("rmq2", ())

    roles: Roles = play(until(lambda: fresh.broker.roles(QUEUE), moved, 30.0))
    assert moved(roles), roles


def _mirrors(play: Play, cluster: ComposeCluster, wanted: int) -> tuple[str, ...]:
    def there(roles: Roles) -> bool:
        return len(roles.mirrors) == wanted

    roles: Roles = play(until(lambda: cluster.broker.roles(QUEUE), there, 30.0))
    return roles.mirrors


IN_ORDER = (
    operation("stop_node", "mirror of orders"),
    operation("stop_node", "mirror of orders"),
    # The master's. Left alone it has paused, and no node answers any more who holds the queue.
    operation("stop_node", "all"),
    operation("start_node", "all", order="last stopped first", waits="clean"),
)
AT_ONCE = (
    operation("stop_node", "all", how="kill"),
    operation("start_node", "all", waits="clean"),
)


def of(name: str, *operations: OperationPlan) -> RunPlan:
    """Without consumers, confirmed messages must survive everything in the queue."""
    return operated(*operations, of=plan(name=name, consumers=0))


@pytest.mark.parametrize("deeds", [IN_ORDER, AT_ONCE], ids=["in-order", "at-once"])
def test_stopped_cluster_recovers_with_everything_it_confirmed(
    fresh: ComposeCluster, play: Play, tmp_path: Path, deeds: tuple[OperationPlan, ...]
) -> None:
    done: Done = play(run(fresh, of("recovery", *deeds), tmp_path), RUN_LIMIT_S)
    assert [record.detail for record in done.manifest.operations if not record.ok] == []
    assert done.manifest.state["queues_have_masters"] is True
    assert done.manifest.state["mirrors_after_operations"] == 2
    assert not {"lost", "stranded", "loss_unknown", "unexpected"} & counts(done).keys()
    assert standing(read(done.folder / "journal.jsonl")) == ()


def test_stopped_node_of_an_operation_runs_again_after_the_run(
    fresh: ComposeCluster, play: Play, tmp_path: Path
) -> None:
    done: Done = play(
        run(fresh, of("left", operation("stop_node", "rmq2")), tmp_path), RUN_LIMIT_S
    )
    manifest: Manifest = done.manifest
    assert manifest.cluster_altered == "rmq2 was left stopped"
    assert play(fresh.witness.process("rmq2")).running
