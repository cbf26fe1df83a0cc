"""Small run plans for tests: seconds instead of minutes."""

from dataclasses import replace

from faults.core.targets import CLIENT
from faults.kinds import KINDS
from harness.plan.clients.requirements import chosen_client
from harness.plan.files.spans import Duration
from harness.plan.files.targets import UNINVOLVED, parse_target
from harness.plan.layouts.layout_values import Host
from harness.plan.model import (
    FaultPlan,
    Layout,
    OperationPlan,
    OperationStep,
    RunPlan,
    Scenario,
    Schedule,
    System,
    Window,
)
from harness.plan.operations import OPERATIONS
from harness.plan.workload import BootstrapAddress, Retry, Workload
from harness.systems.rabbitmq.core.alarms import RABBITMQ_ALARMS
from harness.systems.rabbitmq.core.mirrored_layouts import mirrored_guarantees
from harness.systems.rabbitmq.core.servers import rabbitmq_servers
from harness.systems.rabbitmq.declaration import RABBITMQ_DRAIN
from tests.rigs.clusters.fault_world import OPTIONS_OF

HOSTS = tuple(
    Host(f"rmq{number}", f"10.0.0.{number}", (f"rabbit@rmq{number}",)) for number in (1, 2, 3)
)
LAYOUT = Layout(
    name="all-automatic",
    profile="T=10",
    system="rabbitmq-mirrored",
    title="every queue on every host",
    hosts=HOSTS,
    detection_timeout_s=10,
    copies=3,
    synchronise="automatic",
    partition_handling="pause_minority",
    policies=(),
)
SYSTEM = System(
    "rabbitmq-mirrored",
    "RabbitMQ mirrored",
    "all-automatic@T=10",
    ("pika",),
    ("compose",),
    mirrored_guarantees,
    rabbitmq_servers,
    RABBITMQ_DRAIN,
    RABBITMQ_ALARMS,
    (),
)


def workload(**changes: object) -> Workload:
    """`amqp`, `rocketmq`: what their sections say."""
    parts: dict[str, object] = {
        "queues": ("orders",),
        "publishers": 1,
        "consumers": 1,
        "keys": 4,
        "rate": 100.0,
        "body_bytes": 256,
        "durable": True,
        "persistent": True,
        "confirms": True,
        "retry": Retry.UNTIL_CONFIRMED,
        "acknowledge": 10,
        "deadline_s": 5.0,
        "publisher_endpoint": BootstrapAddress(parse_target("master of orders")),
        "consumer_endpoint": BootstrapAddress(UNINVOLVED),
    }
    own = {key: changes.pop(key) for key in ("amqp", "rocketmq") if key in changes}
    parts["sections"] = own
    return Workload(**(parts | changes))  # type: ignore[arg-type]


def fault(kind: str, target: str = "", **changes: object) -> FaultPlan:
    of_clients = KINDS[kind].applies_to == CLIENT
    target = target or ("clients" if of_clients else "master of orders")
    changes = {"options": OPTIONS_OF[kind], **changes}
    return FaultPlan(KINDS[kind], parse_target(target), Duration(), Duration(), **changes)  # type: ignore[arg-type]


def operation(name: str, target: str = "", **options: object) -> OperationPlan:
    kind = OPERATIONS[name]
    return OperationPlan(kind, kind.target(target), Duration(), kind.options(**options))


def operated(*operations: OperationPlan, of: RunPlan | None = None) -> RunPlan:
    """A run with these operations, one after another, the first after 0.2 s."""
    of = of or plan()
    steps = tuple(OperationStep(number, each, 0.2) for number, each in enumerate(operations, 1))
    return replace(
        of,
        scenario=replace(of.scenario, operations=operations),
        schedule=replace(of.schedule, steps=steps),
    )


def plan(
    *faults: FaultPlan, lasts_s: float = 0.3, name: str = "quick-1-00ff", **changes: object
) -> RunPlan:
    """A run whose phases last tenths of a second; every fault opens after 0.2 s."""
    scenario = Scenario(
        name="quick",
        title="quick",
        story="",
        workload=workload(**changes),
        faults=faults,
        baseline=Duration(),
        recovery=Duration(),
        settle=Duration(),
        drain_limit=Duration(),
        source="title = 'quick'",
    )
    windows = tuple(Window(n, each, 0.2, lasts_s) for n, each in enumerate(faults, 1))
    return RunPlan(
        name=name,
        number=255,
        scenario=scenario,
        system=SYSTEM,
        layout=LAYOUT,
        client=chosen_client("pika"),
        deployment="compose",
        repeat=1,
        seed=7,
        schedule=Schedule(0.2, windows, 0.1, 0.1, 5),
    )
