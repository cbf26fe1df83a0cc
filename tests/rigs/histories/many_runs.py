"""Runs by their verdicts alone: what exit codes, cells and nights are made of.

1. A run is a text: `a:P b:F w:C`. A letter is an outcome: P PASS, F FAIL, I INCONCLUSIVE, N NOT
   APPLICABLE. Claims whose names begin with w are warnings (P: CONFIRMED, F: NOT SEEN), with s
   claims about some cases; all others are promises.
2. An empty text is a run that was not judged.
3. `+3` in a text: so many messages were lost; `?`: whether any were is unknown.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.expectations import Expectations, read_expectations
from harness.compare.versus import Side
from harness.judging import verdict_file
from harness.judging.exits import Exit
from harness.nightly import message, playing
from harness.nightly.playing import NightEnvironment, NightRequest
from harness.nightly.record import Night
from harness.nightly.suite import Item, Suite
from harness.plan.model import Cell

CELL: Cell = ("crash", "broker", "three@T=10", "client")
OUTCOMES = {
    "P": ClaimOutcome.PASS,
    "F": ClaimOutcome.FAIL,
    "I": ClaimOutcome.INCONCLUSIVE,
    "N": ClaimOutcome.NOT_APPLICABLE,
}


def verdicts(text: str) -> tuple[ClaimVerdict, ...]:
    found = (word.split(":") for word in text.split() if ":" in word)
    return tuple(
        ClaimVerdict(name, OUTCOMES[letter], warns=name[0] == "w", some=name[0] == "s")
        for name, letter in found
    )


def expecting(**words: str) -> Expectations:
    """One entry for every cell; a word of several letters allows each."""
    lines = (
        f"{name} = {[OUTCOMES[one].value for one in word]}"
        if len(word) > 1
        else f'{name} = "{OUTCOMES[word].value}"'
        for name, word in words.items()
    )
    table = "\n".join(lines)
    source = f'[[cell]]\nwhy = "measured"\n[cell.claims]\n{table}\n' if words else "cell = []"
    return read_expectations(source, "mine.toml", words)


def entry(text: str, cell: Cell = CELL) -> dict[str, Any]:
    """A run of verdict.json."""
    claims = [
        {
            "claim": one.claim,
            "outcome": one.outcome.value,
            "meaning": "It is.",
            "warns": one.warns,
            "some": one.some,
        }
        for one in verdicts(text)
    ]
    lost = next((int(word) for word in text.split() if word.startswith("+")), 0)
    summary: Mapping[str, Any] = {
        "lost": lost,
        "stranded": 0,
        "confirmed": 1000,
        "loss_decided_runs": 0 if "?" in text.split() else 1,
    }
    return {
        "name": "r-1",
        "cell": dict(zip(("scenario", "system", "layout", "client"), cell, strict=True)),
        "repeat": 1,
        "claims": claims,
        "summary": summary if claims else None,
    }


def recorded(folder: Path, name: str, texts: Sequence[str]) -> Side:
    """The runs of one experiment, by way of its verdict.json."""
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    document = {
        "format": "mqproof verdict",
        "version": verdict_file.VERSION,
        "experiment": name,
        "seed": 7,
        "versions": {},
        "runs": [entry(text) for text in texts],
    }
    (path / verdict_file.NAME).write_text(json.dumps(document), "utf-8")
    return verdict_file.joined(name, [path / verdict_file.NAME])


@dataclass
class Plays:
    """A world in which each play of a night leaves the runs of a text, separated by `|`. Without
    runs it leaves no experiment, and `!` is one that was never judged."""

    folder: Path
    texts: list[str]
    at: datetime = datetime(2026, 11, 25, 22, 0, tzinfo=UTC)
    begun: int = 0

    def night(self, planned: int, before: Sequence[Night] = (), hours: float = 8) -> Night:
        items = (Item(CELL, planned, "", 30.0, 1.0, "now"),)
        suite = Suite("nights", Path("good"), hours * 3600, 0.1, 0.0, 30, items, ())
        name = f"{self.at:%Y%m%d-%H%M%S}-00aa"
        night = playing.begun(suite, NightRequest(name), before, self.at)
        world = NightEnvironment(lambda: self.at, self._name, self._play, _analyse, lambda: 0.0)
        played = playing.played(self.folder, suite, night, world, lambda _: None)
        self.at += timedelta(days=1)
        return message.judged(self.folder, played)

    def _name(self) -> str:
        self.begun += 1
        return f"{self.at:%Y%m%d-%H%M%S}-{self.begun:04x}"

    def _play(self, folder: Path, name: str, words: object, log: object) -> int:
        self.at += timedelta(minutes=1)
        text = self.texts.pop(0)
        if text == "!":
            (folder / name).mkdir()
        if text in ("", "!"):
            return Exit.BAD_INPUT
        recorded(folder, name, [one.strip() for one in text.split("|")])
        return Exit.PASSED


def _analyse(folder: Path, log: object) -> int:
    raise AssertionError(f"no play of these nights is broken off: {folder}")
