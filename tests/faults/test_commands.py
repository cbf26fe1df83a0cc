"""Commands of a host's owner: how they run, what they prove, and what stays unknown."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.core.actions import ENDING_S, Action, Freeze, Isolate, Kill, Start, Thaw
from faults.core.commands import DO, UNDO, HostCommand
from faults.core.mechanisms import COMMAND
from faults.core.model import Armed, FaultError, ProcessState, Proof, Reply, VerifyResult
from faults.executors.commands import MARK, OUTPUT_MAX, Commands
from faults.executors.external import ExternalExecutor
from faults.executors.nothing import NothingExecutor
from faults.kinds.processes import commanded_rules as rules
from faults.performing import perform_all
from faults.verification import gone, held
from tests.rigs.clusters.fault_world import HOSTS, World, compiled_fault
from tests.rigs.clusters.link_world import ANSWERED, SILENT

REFUSED = Reply(False, 0.001, "refused", "refused")
YES = VerifyResult(True, "its verify command ended with 0")
NO = VerifyResult(False, "its verify command ended with 1")


def shell(script: str) -> tuple[str, ...]:
    return ("sh", "-c", script)


def commands(folder: Path, *secrets: str, **parts: object) -> Commands:
    """Of one host, whose freeze is a file that is there."""
    flag = folder / "frozen"
    words: dict[str, object] = {
        "do": shell(f"echo stopping; touch {flag}"),
        "undo": shell(f"rm -f {flag}"),
        "verify": shell(f"test -e {flag}"),
        "deadline_s": 10.0,
    }
    command = HostCommand(**(words | parts))  # type: ignore[arg-type]
    known = {("rmq1", "freeze"): command}
    return Commands("mqproof-1", known, folder / "commands.jsonl", secrets)


def noted(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "commands.jsonl").read_text().splitlines()]


def armed(kind: str) -> Armed:
    return compiled_fault(kind, "rmq1", HOSTS, mechanism=COMMAND)


@pytest.mark.slow
def test_verify_reports_do_and_undo_and_output_is_noted(
    tmp_path: Path,
) -> None:
    async def story() -> list[VerifyResult | None]:
        known = commands(tmp_path)
        results = [await known.verify_result("rmq1", "freeze")]
        await known.act("rmq1", "freeze", DO)
        results.append(await known.verify_result("rmq1", "freeze"))
        await known.act("rmq1", "freeze", UNDO)
        return [*results, await known.verify_result("rmq1", "freeze")]

    said = asyncio.run(story())
    assert [one and one.in_force for one in said] == [False, True, False]
    lines = noted(tmp_path)
    steps = ["verify", "do", "verify", "undo", "verify"]
    assert [line["step"] for line in lines] == steps
    assert (lines[1]["status"], lines[1]["output"]) == (0, "stopping\n")


@pytest.mark.slow
def test_a_commands_words_reach_the_program_without_a_shell(tmp_path: Path) -> None:
    words = ("printf", "%s|", "a b", "$HOME", "; rm *")
    asyncio.run(commands(tmp_path, do=words).act("rmq1", "freeze", DO))
    assert noted(tmp_path)[0]["output"] == "a b|$HOME|; rm *|"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (shell("echo no way; exit 3"), "ended with 3: no way"),
        (("no-such-program-of-ours",), "No such file"),
        (shell("kill -9 $$"), "ended with 137"),
    ],
)
def test_a_failed_command_is_reported_with_its_output(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(FaultError, match=reason):
        asyncio.run(commands(tmp_path, do=words).act("rmq1", "freeze", DO))


@pytest.mark.slow
def test_a_late_command_and_its_children_are_killed(tmp_path: Path) -> None:
    script = shell(f"sleep 60 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(FaultError, match=r"no end within 0\.5 s"):
        asyncio.run(commands(tmp_path, do=script, deadline_s=0.5).act("rmq1", "freeze", DO))
    child = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    assert gone_or_zombie(child)
    assert noted(tmp_path)[0]["status"] is None


@pytest.mark.slow
def test_a_command_that_floods_its_output_is_killed_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faults.executors.commands.FLOOD_MAX", 1 << 20)
    began = time.monotonic()
    with pytest.raises(FaultError, match="it wrote more than 1 MB"):
        asyncio.run(commands(tmp_path, do=("yes",)).act("rmq1", "freeze", DO))
    assert time.monotonic() - began < 5
    assert len(str(noted(tmp_path)[0]["output"])) == OUTPUT_MAX


@retry(stop=stop_after_delay(5), wait=wait_fixed(0.05), retry=retry_if_result(lambda ok: not ok))
def gone_or_zombie(stat: Path) -> bool:
    try:
        return stat.read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.slow
def test_a_broker_started_by_an_undo_does_not_block_it(tmp_path: Path) -> None:
    script = shell(f"sleep 30 & echo $! > {tmp_path}/broker")
    began = time.monotonic()
    asyncio.run(commands(tmp_path, undo=script).act("rmq1", "freeze", UNDO))
    assert time.monotonic() - began < 5
    broker = (tmp_path / "broker").read_text().strip()
    assert Path(f"/proc/{broker}").exists()
    os.kill(int(broker), signal.SIGTERM)  # `kill` is a program of its own, and not everywhere


@pytest.mark.slow
def test_secrets_are_masked_in_notes_and_errors(tmp_path: Path) -> None:
    known = commands(tmp_path, "swordfish", do=shell("echo with swordfish; exit 1"))
    with pytest.raises(FaultError) as error:
        asyncio.run(known.act("rmq1", "freeze", DO))
    assert "with ***" in str(error.value)
    assert "swordfish" not in (tmp_path / "commands.jsonl").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("kept", range(1, 9))
def test_a_secret_cut_by_the_output_limit_is_still_masked(tmp_path: Path, kept: int) -> None:
    script = shell(f"printf 'swordfish%0{OUTPUT_MAX - kept}d' 0")
    asyncio.run(commands(tmp_path, "swordfish", do=script).act("rmq1", "freeze", DO))
    said = str(noted(tmp_path)[0]["output"])
    assert set(said) <= {"0", "*"}, said[:20]


@pytest.mark.slow
def test_output_of_a_command_has_no_terminal_escapes(tmp_path: Path) -> None:
    script = shell("printf '\\033[2Jall is well\\r\\007\\n'; exit 1")
    with pytest.raises(FaultError) as error:
        asyncio.run(commands(tmp_path, do=script).act("rmq1", "freeze", DO))
    assert str(error.value).endswith("ended with 1: [2Jall is well")
    assert str(error.value).isprintable()


@pytest.mark.slow
def test_heal_runs_commands_in_the_folder_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "undo.sh").write_text("echo undone in $PWD")
    monkeypatch.chdir("/")
    command = HostCommand(("true",), ("sh", "undo.sh"))
    log = tmp_path / "commands.jsonl"
    known = Commands("mqproof-1", {("rmq1", "freeze"): command}, log, folder=str(tmp_path))
    asyncio.run(known.act("rmq1", "freeze", UNDO))
    assert noted(tmp_path)[0]["output"] == f"undone in {tmp_path}\n"


@pytest.mark.slow
@pytest.mark.parametrize("script", ["exit 255", "exit 126", "no-such-command-of-ours", "kill $$"])
def test_a_failed_verify_command_gives_no_result(tmp_path: Path, script: str) -> None:
    known = commands(tmp_path, verify=shell(script))
    with pytest.raises(FaultError, match=r"the verify command for freeze of rmq1 ended with \d+"):
        asyncio.run(known.verify_result("rmq1", "freeze"))


@pytest.mark.slow
def test_an_undo_waits_for_its_fault_even_after_a_timeout(tmp_path: Path) -> None:
    """Else the fault would come after its undo, and stay."""
    script = shell(f"sleep 0.6; touch {tmp_path}/frozen")

    async def story() -> VerifyResult | None:
        known = commands(tmp_path, do=script)
        doing = asyncio.create_task(known.act("rmq1", "freeze", DO))
        await until_there(tmp_path, "mqproof-1 rmq1 freeze do")
        doing.cancel()
        await asyncio.gather(doing, return_exceptions=True)
        await known.act("rmq1", "freeze", UNDO)
        return await known.verify_result("rmq1", "freeze")

    result = asyncio.run(story())
    assert result is not None
    assert not result.in_force


@retry(stop=stop_after_delay(10), wait=wait_fixed(0.02), retry=retry_if_result(lambda ok: not ok))
async def until_there(_: Path, mark: str) -> bool:
    entry = f"{MARK}={mark}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if entry in environ.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


@pytest.mark.slow
def test_an_undo_waits_for_the_command_of_a_dead_harness(tmp_path: Path) -> None:
    program = (
        "import asyncio, os, sys; from pathlib import Path; from tests.faults.test_commands "
        "import commands, shell; folder = Path(sys.argv[1])\n"
        "known = commands(folder, do=shell(f'touch "
        "{folder}/begun; sleep 1; touch {folder}/frozen'))\n"
        "async def die():\n"
        "    task = asyncio.create_task(known.act('rmq1', 'freeze', 'do'))\n"
        "    while not (folder / 'begun').exists(): await asyncio.sleep(0.01)\n"
        "    os._exit(9)\n"
        "asyncio.run(die())"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(command, cwd=root, check=False).returncode == 9
    asyncio.run(commands(tmp_path).act("rmq1", "freeze", UNDO))
    assert not (tmp_path / "frozen").exists()


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze"])
def test_a_fault_is_proven_by_its_command_and_from_outside(kind: str) -> None:
    async def story(world: World) -> tuple[bool, bool]:
        fault = armed(kind)
        await perform_all(world, fault.actions)
        holding = await held(fault, world, 1.0)
        await perform_all(world, fault.undo)
        return holding.ok, (await gone(fault, world, 1.0)).ok

    class Outside(World):
        async def greets(self, host: str) -> Reply:
            return REFUSED if host in self.dead else await super().greets(host)

        async def process(self, host: str) -> ProcessState:
            raise AssertionError("processes of a host that is not ours cannot be seen")

        def change(self, action: Action) -> None:
            super().change(action)
            self.dead |= {self.ending: 0} if self.ending else {}
            self.ending = ""

    assert asyncio.run(story(Outside())) == (True, True)


@pytest.mark.parametrize("kind", ["kill", "stop", "freeze"])
def test_with_an_executor_that_does_nothing_it_ends_unknown(kind: str) -> None:
    async def story(world: World) -> bool:
        await perform_all(NothingExecutor(), armed(kind).actions)
        return (await held(armed(kind), world, 0.6)).ok

    assert not asyncio.run(story(World()))


@pytest.mark.parametrize(
    ("proof", "doubt"),
    [
        (rules.kill_held(None, REFUSED), "there is no verify command"),
        (rules.kill_held(NO, REFUSED), "ended with 1: not in force"),
        (rules.kill_held(YES, ANSWERED), "but the broker answers"),
        (rules.freeze_held(None, SILENT), "there is no verify command"),
        (rules.freeze_held(YES, ANSWERED), "but its port is not silent"),
        (rules.freeze_held(YES, REFUSED), "but its port is not silent"),
        (rules.kill_gone(YES, ANSWERED), "still in force"),
        (rules.kill_gone(NO, REFUSED), "outside: refused"),
        (rules.kill_gone(None, REFUSED), "outside: refused"),
        (rules.freeze_gone(YES, ANSWERED), "still in force"),
        (rules.freeze_gone(NO, SILENT), "outside: silent"),
        (rules.freeze_gone(None, REFUSED), "outside: refused"),
        (rules.may_begin(YES, ANSWERED), "it cannot tell the fault from health"),
        (rules.may_begin(NO, REFUSED), "before the fault, the broker does not answer"),
    ],
)
def test_a_fault_that_one_check_denies_is_not_proven(proof: Proof, doubt: str) -> None:
    assert doubt in proof.doubt


def test_without_a_verify_command_only_the_broker_shows_the_end() -> None:
    """Else the run would wait in vain; it is unknown already."""
    assert rules.kill_gone(None, ANSWERED).ok
    assert rules.freeze_gone(None, ANSWERED).ok


def test_a_freeze_ended_if_its_command_and_port_say_so() -> None:
    assert rules.freeze_gone(NO, REFUSED).ok


@pytest.mark.slow
def test_each_action_runs_the_command_of_its_kind(tmp_path: Path) -> None:
    kinds = {
        ("rmq1", kind): HostCommand(("echo", kind, "do"), ("echo", kind, "undo"))
        for kind in ("kill", "stop", "freeze")
    }
    known = Commands("mqproof-1", kinds, tmp_path / "commands.jsonl")
    executor = ExternalExecutor("mqproof-1", known, None, None)  # type: ignore[arg-type]
    stop = armed("stop")
    assert stop.undo == (Start("rmq1", ENDING_S, "stop"),)

    async def story() -> None:
        for action in (Kill("rmq1"), Start("rmq1"), *stop.actions, *stop.undo):
            await executor.perform(action)
        for action in (Freeze("rmq1"), Thaw("rmq1")):
            await executor.perform(action)
        with pytest.raises(FaultError, match="not on a cluster that is not ours"):
            await executor.perform(Isolate("rmq1", "chain"))
        with pytest.raises(FaultError, match="no command for kill of rmq2"):
            await executor.perform(Kill("rmq2"))

    asyncio.run(story())
    said = [str(line["output"]).strip() for line in noted(tmp_path)]
    assert said == ["kill do", "kill undo", "stop do", "stop undo", "freeze do", "freeze undo"]
