"""An owner is one process of one boot, and is not mistaken for another."""

import os
import subprocess
import sys

import pytest

from harness.deploy.owner import alive, owner, owner_of


def test_this_process_lives() -> None:
    assert alive(owner())


def test_another_start_another_boot_or_nonsense_is_dead() -> None:
    pid, ticks, boot = owner().split()
    assert not alive(f"{pid} {int(ticks) + 1} {boot}")
    assert not alive(f"{pid} {ticks} another-boot")
    assert not alive(f"4194305 {ticks} {boot}")
    assert not alive("")


@pytest.mark.slow
def test_a_zombie_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    described = owner_of(process.pid)
    assert alive(described)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not reaped
    assert not alive(described)
    assert owner_of(process.pid).split()[1] == "0"
    process.communicate()
