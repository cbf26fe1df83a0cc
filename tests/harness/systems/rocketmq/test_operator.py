"""An operator makes a slave its group's master: what is written to whom, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from faults.core.model import FaultError
from harness.cluster.orders import Promote, Synchronise
from harness.cluster.port import DeployError
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq_2m2s import CHANGED, FixedRoles, RocketOperator
from tests.rigs.machine.loops import in_a_loop

LAYOUT = load_layout("rocketmq-2m2s", "one-group")
QUEUE = "mqproof.r1.orders"
MASTER_SAYS, SLAVE_SAYS = "brokerId=0 brokerRole=SYNC_MASTER", "brokerId=1 brokerRole=SLAVE"


@dataclass
class Disks:
    """PlaceCommands: writes that reached a place, in order. `refused`: a process still runs."""

    refused: str = ""
    status: int = 0
    written: list[tuple[str, str]] = field(default_factory=list)

    def run_instead(self, place: str, script: str, limit_s: float) -> tuple[int, str]:
        assert limit_s > 0
        if place == self.refused:
            raise FaultError(f"{place} runs")
        self.written.append((place, script))
        return self.status, "no space"

    def run(self, place: str, command: Sequence[str]) -> tuple[int, str]:
        self.written.append((place, command[-1]))
        return 0, ""


def operator(disks: Disks) -> tuple[RocketOperator, FixedRoles]:
    leading = FixedRoles(LAYOUT)
    return RocketOperator(disks, LAYOUT, lambda _: "broker-a", leading), leading


@in_a_loop
async def test_dead_master_is_recorded_as_slave_before_the_new_one() -> None:
    disks = Disks()
    made, leading = operator(disks)
    await made.carry_out(Promote(QUEUE, "rkt2"))
    (first, as_slave), (second, as_master) = disks.written
    assert (first, second) == ("rkt1/broker-a-0", "rkt2/broker-a-1")
    assert SLAVE_SAYS in as_slave and CHANGED in as_slave
    assert MASTER_SAYS in as_master and CHANGED in as_master
    master, slave = leading.slave_on("broker-a", "rkt1")
    assert (master.host, slave.host) == ("rkt2", "rkt1")


@pytest.mark.parametrize(
    ("disks", "why"),
    [(Disks(refused="rkt1/broker-a-0"), "rkt1/broker-a-0 runs"), (Disks(status=1), "no space")],
)
@in_a_loop
async def test_without_a_recorded_old_master_no_slave_is_promoted(disks: Disks, why: str) -> None:
    made, leading = operator(disks)
    with pytest.raises(DeployError, match=why):
        await made.carry_out(Promote(QUEUE, "rkt2"))
    assert not [place for place, _ in disks.written if place.startswith("rkt2")]
    assert leading.slave_on("broker-a", "rkt2")[0].host == "rkt1"


@in_a_loop
async def test_the_rocketmq_operator_refuses_other_operations() -> None:
    made, _ = operator(Disks())
    with pytest.raises(DeployError, match="takes no order"):
        await made.carry_out(Synchronise(QUEUE))
