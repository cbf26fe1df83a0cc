"""Operators' orders on the reference: its command line, and the effect of a refusal."""

import pytest

from harness.cluster.orders import (
    AddNode,
    DeletePolicy,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    WipeNode,
)
from harness.cluster.port import DeployError
from harness.systems.reference.core.node import OperatorCommand, command
from harness.systems.reference_mirrored import ReferenceOperator
from tests.rigs.machine.loops import in_a_loop


class Lines:
    """A command line with scripted answers, and an API beside it."""

    def __init__(self, status: int = 0, said: str = "") -> None:
        self.answer = (status, said)
        self.orders: list[OperatorCommand] = []
        self.joined: list[str] = []

    async def carry_out_command(self, order: OperatorCommand) -> tuple[int, str]:
        self.orders.append(order)
        return self.answer

    async def carry_out(self, order: Order) -> str:
        return f"the API heard {type(order).__name__}"

    def operator(self) -> ReferenceOperator:
        return ReferenceOperator(self, self.carry_out_command, self.joined.append)


@pytest.mark.parametrize(
    ("order", "host", "instead", "line"),
    [
        (ForgetNode("ref3", "ref1", offline=False), "ref1", False, "forget CONFIG ref3"),
        (ForgetNode("ref3", "ref1", offline=True), "ref1", True, "forget CONFIG ref3 --offline"),
        (ForceBoot("ref1"), "ref1", True, "force-boot CONFIG"),
        (WipeNode("ref2"), "ref2", True, "wipe CONFIG"),
        (ResetNode("ref2"), "ref2", False, "reset CONFIG"),
        (AddNode("ref4", "ref1"), "ref4", False, "join CONFIG ref1"),
    ],
)
def test_an_order_goes_to_the_node_that_carries_it_out(
    order: Order, host: str, instead: bool, line: str
) -> None:
    operator_command = command(order)
    assert operator_command is not None
    assert (operator_command.host, operator_command.instead) == (host, instead)
    assert " ".join(operator_command.line("CONFIG")) == f"-m reference_impl {line}"


@in_a_loop
async def test_operation_is_recorded_and_goes_to_the_api_without_command() -> None:
    """Send to the API what has no command."""
    lines = Lines(said="all\nis well\n")
    assert await lines.operator().carry_out(WipeNode("ref2")) == "ref2: all is well"
    assert await Lines().operator().carry_out(WipeNode("ref2")) == "ref2: done"
    assert await lines.operator().carry_out(DeletePolicy("p")) == "the API heard DeletePolicy"
    assert lines.orders == [OperatorCommand("ref2", "wipe", (), True)]


@in_a_loop
async def test_a_no_is_reported_with_its_reason() -> None:
    lines = Lines(1, "a node runs on /data: this is for one that is down")
    with pytest.raises(DeployError, match="wipe on ref2: status 1: a node runs on /data"):
        await lines.operator().carry_out(WipeNode("ref2"))


@in_a_loop
async def test_only_joined_hosts_are_queried() -> None:
    lines = Lines()
    await lines.operator().carry_out(AddNode("ref4", "ref1"))
    await lines.operator().carry_out(ResetNode("ref2"))
    assert lines.joined == ["ref4"]
    refused = Lines(1)
    with pytest.raises(DeployError):
        await refused.operator().carry_out(AddNode("ref4", "ref1"))
    assert refused.joined == []
