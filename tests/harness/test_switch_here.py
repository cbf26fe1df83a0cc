"""Name servers of CTGMQ's reference replace its master, as a newcomer plays it: without Docker."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.docker.command_line import mqproof

pytestmark = [pytest.mark.slow, pytest.mark.long]

END_LIMIT_S = 400
# A busy machine may stand still for longer than the leases of the default profile.
WORDS = (
    "switch",
    "--system",
    "reference-ctgmq",
    "--layout",
    "separated@compressed",
    "--seed",
    "7",
)
_MASTER = re.compile(r"broker-a: (\S+) is master, epoch (\d+)")
_IN_SYNC = re.compile(r"broker-a in sync: ([\w:, ]+?), epoch (\d+)")


class Played(NamedTuple):
    run: dict[str, Any]
    output: str
    report: str

    @property
    def outcomes(self) -> dict[str, str]:
        return {claim["claim"]: claim["outcome"] for claim in self.run["claims"]}

    @property
    def masters(self) -> dict[int, str]:
        """By epoch, as the report shows them."""
        return {int(epoch): address for address, epoch in _MASTER.findall(self.report)}

    @property
    def sets(self) -> list[int]:
        """How many brokers were in sync, set by set, as the report shows them."""
        found = {
            int(epoch): len(names.split(", ")) for names, epoch in _IN_SYNC.findall(self.report)
        }
        return [found[epoch] for epoch in sorted(found)]


def play(folder: Path, *words: str) -> Played:
    process = mqproof(folder, "run", *WORDS, *words)
    output, _ = process.communicate(timeout=END_LIMIT_S)
    (verdict,) = folder.rglob("verdict.json")
    (report,) = folder.rglob("report.html")
    (run,) = json.loads(verdict.read_text(encoding="utf-8"))["runs"]
    assert run["judged"], output
    return Played(run, output, report.read_text(encoding="utf-8"))


def test_the_report_shows_each_master_and_nothing_is_lost(tmp_path: Path) -> None:
    played = play(tmp_path)
    for claim in ("confirmed-is-delivered", "in-sync-is-not-lost"):
        assert played.outcomes[claim] == "PASS", played.outcomes
    assert len(played.masters) == 2, played.masters
    assert {*played.masters} == {1, 2}
    assert len({*played.masters.values()}) == 2
    # Both; the new master alone; both, when the old one is back.
    assert played.sets == [2, 1, 2], played.sets


def test_without_a_rule_exactly_its_messages_are_lost(tmp_path: Path) -> None:
    played = play(tmp_path, "--misbehave", "without-in-set")
    assert played.outcomes["in-sync-is-not-lost"] == "FAIL", played.outcomes
    assert len(played.masters) == 3
    found = re.search(r"truth: lost: (\d+) found, (\d+) to be found$", played.output, re.MULTILINE)
    assert found is not None, played.output
    assert found[1] == found[2] != "0"
