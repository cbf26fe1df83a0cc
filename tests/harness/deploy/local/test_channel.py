"""The channel to a subprocess: how it ended is not lost."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.deploy.local.channel import PipeChannel
from tests.rigs.machine.loops import within

pytestmark = pytest.mark.slow

LIMIT_S = 30.0


async def started(program: str) -> PipeChannel:
    return await PipeChannel.start("one", [sys.executable, "-c", program], {**os.environ}, Path())


@within(LIMIT_S)
async def test_a_kill_leaves_the_exit_status_to_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Popen's own signals poll first, and a poll takes the status of a process that has ended."""
    channel = await started("import sys; sys.stdin.read()")
    monkeypatch.setattr(subprocess.Popen, "send_signal", lambda *_: pytest.fail("it polls"))
    await channel.kill()
    assert await channel.receive() is None
    assert await channel.exit_code() == 137
    await channel.close()


@within(LIMIT_S)
async def test_a_kill_of_what_has_ended_changes_nothing() -> None:
    channel = await started("raise SystemExit(7)")
    assert await channel.receive() is None
    await channel.kill()
    assert await channel.exit_code() == 7
    await channel.close()
    await channel.kill()


@within(LIMIT_S)
async def test_the_last_words_are_there_with_the_exit_code() -> None:
    late = "time.sleep(0.3); sys.exit('no memory left')"  # in a child that has the pipe, too
    program = f"import os, sys, time; os.close(1); os.fork() and os._exit(1); {late}"
    channel = await started(program)
    assert await channel.receive() is None
    assert (await channel.exit_code(), channel.errors) == (1, "no memory left")
    await channel.close()


@within(LIMIT_S)
async def test_a_line_that_was_cut_off_by_the_end_is_no_message() -> None:
    channel = await started('import os; os.write(1, b\'{"say":"ready"}\\n{"say":"sta\')')
    assert await channel.receive() == {"say": "ready"}
    assert await channel.receive() is None
    assert await channel.exit_code() == 0
    await channel.close()
