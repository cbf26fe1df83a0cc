"""Faults of a host's network by its owner's commands: two witnesses must agree."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from faults.core.actions import DoCommand, UndoCommand
from faults.core.commands import HostCommand
from faults.core.mechanisms import COMMAND
from faults.core.model import Armed, FaultError, Proof, Reply, VerifyResult
from faults.executors.commands import Commands
from faults.executors.external import ExternalExecutor
from faults.kinds.network import commanded_rules as rules
from faults.verification import gone, held, lasted, prepare
from tests.rigs.clusters.fault_world import compiled_fault

HOSTS = ("rmq1", "rmq2", "rmq3")
YES = VerifyResult(True, "its verify command ended with 0")
NO = VerifyResult(False, "its verify command ended with 1")
ANSWERED = Reply(True, 0.01, "answered")
SILENT = Reply(False, 2.5, "silent for 2.5 s")
REFUSED = Reply(False, 0.01, "refused", end="refused")
UNREACHABLE = Reply(False, 0.01, "No route to host")
OTHERS = {"rmq2": ANSWERED, "rmq3": ANSWERED}
KINDS = ("partition", "black_hole", "reboot")


def armed(kind: str) -> Armed:
    return compiled_fault(kind, "rmq1", HOSTS, mechanism=COMMAND)


@dataclass
class Owners:
    """A witness: what each host meets from outside, and what the verify command says."""

    result: VerifyResult | None = NO
    replies: dict[str, Reply] = field(default_factory=lambda: dict.fromkeys(HOSTS, ANSWERED))

    async def prepare(self, armed: Armed) -> None: ...

    async def dismiss(self, armed: Armed) -> None: ...

    async def verify_result(self, armed: Armed) -> VerifyResult | None:
        return self.result

    async def greets(self, place: str) -> Reply:
        return self.replies[place]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_one_command_and_its_undo(kind: str) -> None:
    found = armed(kind)
    assert found.actions == (DoCommand("rmq1", kind),)
    assert found.undo == (UndoCommand("rmq1", kind),)


@pytest.mark.parametrize(
    ("kind", "outside"), [("partition", ANSWERED), ("black_hole", SILENT), ("reboot", SILENT)]
)
def test_command_and_outside_prove_beginning_and_end(kind: str, outside: Reply) -> None:
    async def story() -> tuple[bool, bool]:
        witness, fault = Owners(), armed(kind)
        await prepare(fault, witness)
        witness.result, witness.replies["rmq1"] = YES, outside
        holding = await held(fault, witness, 0.2)
        witness.result, witness.replies["rmq1"] = NO, ANSWERED
        return holding.ok, (await gone(fault, witness, 0.2)).ok

    assert asyncio.run(story()) == (True, True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_that_is_there_before_is_not_begun(kind: str) -> None:
    with pytest.raises(FaultError, match="it cannot tell the fault from health"):
        asyncio.run(prepare(armed(kind), Owners(result=YES)))


@pytest.mark.parametrize("kind", KINDS)
def test_commands_that_do_nothing_leave_a_fault_unverified(kind: str) -> None:
    assert not asyncio.run(held(armed(kind), Owners(), 0.2)).ok
    lies = Owners(result=YES, replies=dict.fromkeys(HOSTS, SILENT))
    lies.replies |= {} if kind == "partition" else {"rmq1": ANSWERED}
    assert not asyncio.run(held(armed(kind), lies, 0.2)).ok


@pytest.mark.parametrize(
    ("proof", "doubt"),
    [
        (rules.partition_held(None, ANSWERED, OTHERS), "there is no verify command"),
        (rules.partition_held(NO, ANSWERED, OTHERS), "ended with 1: not in force"),
        (rules.partition_held(YES, SILENT, OTHERS), "that is a black_hole"),
        (rules.partition_held(YES, ANSWERED, {"rmq2": SILENT}), "more is cut than was meant"),
        (rules.black_hole_held(None, SILENT, OTHERS), "there is no verify command"),
        (rules.black_hole_held(YES, REFUSED, OTHERS), "but clients meet no silence: refused"),
        (rules.black_hole_held(YES, SILENT, {"rmq2": SILENT}), "more is cut than was meant"),
        (rules.reboot_held(YES, REFUSED), "but its kernel answers: refused"),
        (rules.reboot_held(YES, ANSWERED), "but its kernel answers: answered"),
        (rules.reboot_held(None, SILENT), "there is no verify command"),
    ],
)
def test_what_one_witness_denies_is_not_proven(proof: Proof, doubt: str) -> None:
    assert doubt in proof.doubt


def test_a_pausing_node_refuses_and_is_partitioned() -> None:
    assert rules.partition_held(YES, REFUSED, OTHERS).ok
    assert rules.partition_held(YES, ANSWERED, {"rmq2": REFUSED}).ok


def test_a_router_may_say_that_a_host_without_power_is_away() -> None:
    assert rules.reboot_held(YES, UNREACHABLE).ok


@pytest.mark.slow
def test_the_executor_runs_the_commands_of_the_kind(tmp_path: Path) -> None:
    wanted = {("rmq1", kind): HostCommand(("true",), ("false",)) for kind in KINDS}
    known = Commands("mqproof-1", wanted, tmp_path / "commands.jsonl")
    executor = ExternalExecutor("mqproof-1", known, None, None)  # type: ignore[arg-type]

    async def story() -> None:
        for kind in KINDS:
            await executor.perform(DoCommand("rmq1", kind))
            with pytest.raises(FaultError, match=f"the undo command for {kind} of rmq1 ended wi"):
                await executor.perform(UndoCommand("rmq1", kind))

    asyncio.run(story())


@pytest.mark.parametrize("kind", KINDS)
def test_a_commanded_fault_lasts_while_its_command_says_so(kind: str) -> None:
    answers = [asyncio.run(lasted(armed(kind), Owners(result))) for result in (YES, NO)]
    assert [one.ok for one in answers] == [True, False]
    assert "not in force" in answers[1].doubt


def test_a_commanded_kill_ends_when_its_broker_answers() -> None:
    dead = dict.fromkeys(HOSTS, REFUSED)
    answers = [
        asyncio.run(lasted(armed("kill"), owners))
        for owners in (Owners(YES, dead), Owners(YES), Owners(NO, dead))
    ]
    assert [one.ok for one in answers] == [True, False, False]
