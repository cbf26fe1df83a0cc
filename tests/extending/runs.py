"""`mqproof run` as a user of the package types it: a process, and its verdict."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
END_LIMIT_S = 150.0  # of a machine that is busy


class Run:
    """One experiment of one scenario on one layout of Pigeonhole."""

    def __init__(self, site: Path, folder: Path, scenario: str, *words: str) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "scenario.toml").write_text(scenario, encoding="utf-8")
        cell = ("--system", "pigeonhole", "--deployment", "local")
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness", "run", "scenario.toml", *cell, *words],
            cwd=folder,
            env=self.environment,
            stdout=(folder / "said").open("w"),
            stderr=subprocess.STDOUT,
        )

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text(encoding="utf-8")

    @property
    def experiment(self) -> Path:
        (found,) = (self.folder / "results").iterdir()
        return found

    def verdict(self) -> "Verdict":
        """When it has ended."""
        self.process.wait(END_LIMIT_S)
        file = self.experiment / "verdict.json"
        assert file.exists(), self.said
        return Verdict(json.loads(file.read_text(encoding="utf-8")))

    def kill(self) -> None:
        """As the kernel does: it undoes nothing."""
        self.process.kill()
        self.process.wait()


class Verdict:
    """Of an experiment of one run."""

    def __init__(self, document: dict[str, Any]) -> None:
        (self.run,) = document["runs"]
        self.exit_code = document["exit_code"]
        self.versions: dict[str, str] = document["versions"]

    @property
    def outcomes(self) -> dict[str, str]:
        return {one["claim"]: one["outcome"] for one in self.run["claims"]}

    @property
    def lost(self) -> int:
        return int(self.run["summary"]["lost"])

    @property
    def confirmed(self) -> int:
        return int(self.run["summary"]["confirmed"])
