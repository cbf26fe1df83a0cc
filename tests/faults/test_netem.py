"""The shell commands around our netem, and how its listing is read.

This project's machines have no kernel with netem: the commands were tried with a stand-in for tc.
"""

import json
import subprocess
from pathlib import Path

import pytest

from faults.core.actions import Impair
from faults.core.model import FaultError, Impairment
from faults.executors.core import netem

LOSS = Impair("rmq1", loss=20)
DELAY = Impair("rmq1", delay_ms=200, jitter_ms=50, correlation=25)
NOQUEUE = {"kind": "noqueue", "handle": "0:", "dev": "lo", "root": True, "options": {}, "drops": 0}
OURS = {
    "kind": "netem",
    "handle": netem.HANDLE,
    "dev": "eth0",
    "root": True,
    "options": {"limit": 100_000, "loss-random": {"loss": 0.2, "correlation": 0}, "gap": 0},
    "drops": 17,
}
LATE = {"delay": {"delay": 0.2, "jitter": 0.05, "correlation": 0.25}}


def listing(*entries: dict[str, object]) -> str:
    return json.dumps(entries)


@pytest.mark.parametrize(
    ("action", "effect"),
    [
        (LOSS, "netem limit 100000 loss 20% "),
        (DELAY, "netem limit 100000 delay 200ms 50ms 25% "),
        (Impair("rmq1", delay_ms=200, jitter_ms=50), "delay 200ms 50ms "),
        (Impair("rmq1", delay_ms=200), "delay 200ms "),
    ],
)
def test_the_numbers_of_an_impairment_are_netems_words(action: Impair, effect: str) -> None:
    assert effect in netem.impair(action)


def test_an_impairment_without_effect_reaches_no_shell() -> None:
    with pytest.raises(AssertionError, match="without effect"):
        netem.impair(Impair("rmq1"))


def test_our_netem_is_read_with_its_numbers_and_drops() -> None:
    assert netem.impairments(listing(NOQUEUE, OURS)) == {"eth0": Impairment(0.2, 0, 0, 0, 17)}
    late = netem.impairments(listing({**OURS, "options": LATE}))
    assert late == {"eth0": Impairment(0, 0.2, 0.05, 0.25, 17)}


@pytest.mark.parametrize(
    "other",
    [NOQUEUE, {**OURS, "handle": "8001:"}, {**OURS, "root": False}, {**OURS, "kind": "tbf"}],
)
def test_the_queueing_discipline_of_somebody_else_is_not_ours(other: dict[str, object]) -> None:
    assert netem.impairments(listing(other)) == {}


@pytest.mark.parametrize(
    "text", ["", "qdisc noqueue 0: dev lo", "{}x", '[{"kind": "netem"}]', "7"]
)
def test_what_is_no_listing_is_an_error(text: str) -> None:
    with pytest.raises(FaultError, match="tc said"):
        netem.impairments(text)


IP = """#!/bin/sh
echo '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN'
echo '17: eth0@if18: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP'
[ "$4" = up ] || echo '2: tunl0@NONE: <NOARP> mtu 1480 qdisc noop state DOWN'
"""
# Keeps the root of each interface in a file; says what the kernel without netem says.
TC = """#!/bin/sh
[ -f "$0.broken" ] && { echo "Cannot open netlink socket" >&2; exit 1; }
case "$1 $2" in
"qdisc show")
    [ -f "$0.$4" ] || { echo "qdisc noqueue 0: root refcnt 2"; exit 0; }
    cat "$0.$4" ;;
"qdisc add")
    [ -f "$0.without" ] && { echo "Error: Specified qdisc kind is unknown." >&2; exit 2; }
    [ -f "$0.$4" ] && { echo "Error: Exclusivity flag on, cannot modify." >&2; exit 2; }
    echo "qdisc $8 $7 root refcnt 2" > "$0.$4" ;;
"qdisc del") rm "$0.$4" ;;
esac
"""


class Shell:
    """A shell with stand-ins for `ip` and `tc`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in (("ip", IP), ("tc", TC)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)

    def run(self, script: str) -> "subprocess.CompletedProcess[str]":
        path = {"PATH": f"{self.folder}:/usr/bin:/bin"}
        return subprocess.run(["/bin/sh", "-c", script], env=path, capture_output=True, text=True)

    def root(self, interface: str) -> str:
        file = self.folder / f"tc.{interface}"
        return file.read_text() if file.exists() else ""


@pytest.mark.slow
@pytest.mark.parametrize("action", [LOSS, DELAY])
def test_a_host_is_impaired_and_cleared_again_and_again(tmp_path: Path, action: Impair) -> None:
    shell = Shell(tmp_path)
    for _ in range(2):
        assert shell.run(netem.impair(action)).returncode == 0
        assert shell.root("eth0") == f"qdisc netem {netem.HANDLE} root refcnt 2\n"
        assert shell.root("lo") == shell.root("tunl0") == ""
    cleared = [shell.run(netem.clear()) for _ in range(2)]
    assert [(one.returncode, one.stdout) for one in cleared] == [(0, "eth0\n"), (0, "")]
    assert shell.root("eth0") == ""


@pytest.mark.slow
def test_a_root_of_somebody_else_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "tc.eth0").write_text("qdisc netem 8001: root refcnt 2\n")
    assert shell.run(netem.impair(LOSS)).returncode != 0
    assert shell.run(netem.clear()).stdout == ""
    assert shell.root("eth0") == "qdisc netem 8001: root refcnt 2\n"


@pytest.mark.slow
def test_a_kernel_without_netem_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "tc.without").touch()
    failed = shell.run(netem.impair(LOSS))
    assert failed.returncode == 1
    assert "Specified qdisc kind is unknown" in failed.stderr
    assert "run `modprobe sch_netem` on the Docker host" in failed.stderr


@pytest.mark.slow
def test_nothing_is_taken_for_cleared_that_could_not_be_seen(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    (tmp_path / "tc.broken").touch()
    assert shell.run(netem.clear()).returncode != 0
    (tmp_path / "ip").write_text("#!/bin/sh\n")
    assert shell.run(netem.clear()).returncode != 0
