"""Which deployment serves a plan, and what a machine without Docker can do all the same."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import pipeline
from harness.deploy import catalogue
from harness.deploy.doctor import Row
from harness.report.display import LiveView, RunOptions
from harness.run.guardian import Kind
from harness.run.heal import Standing
from harness.run.local_projects import LocalProjects

pytestmark = pytest.mark.slow


@dataclass
class Heard:
    """A display that keeps what it is told."""

    messages: list[str] = field(default_factory=list)

    def step_began(self, name: str, expected_s: float | None) -> None: ...

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveView) -> None: ...

    def message(self, text: str) -> None:
        self.messages.append(text)


def test_every_deployment_that_a_system_names_is_there(tmp_path: Path) -> None:
    there = pipeline._deployments(RunOptions(tmp_path), pipeline._Guard(tmp_path, keep=False))
    named = {
        name
        for system in catalogue.system_names()
        for name in catalogue.load_system(system).deployments
    }
    assert named == set(there) == {"compose", "local", "external"}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.LOCAL, "-m harness.run.local_projects mqproof-1"),
        (Kind.COMPOSE, "docker compose -p mqproof-1 "),
    ],
)
def test_what_is_kept_is_told_with_the_words_that_remove_it(
    kind: Kind, words: str, tmp_path: Path
) -> None:
    show = Heard()
    pipeline._Guard(tmp_path, keep=True, project="mqproof-1", kind=kind).end(show)
    assert words in show.messages[-1]


async def nothing(_: LocalProjects) -> tuple[Standing, ...]:
    return ()


def test_without_an_engine_healing_looks_at_this_machine_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setattr(LocalProjects, "find", nothing)  # what runs here is none of a test's
    show = Heard()
    assert pipeline.heal(show)
    assert show.messages[-1] == "no containers were looked for: none runs here"


@pytest.mark.parametrize(
    ("row", "word", "ok"),
    [
        (Row("Docker engine", "none", False, "start it", optional=True), "absent ", True),
        (Row("free disk", "1 GB", False, "free some"), "MISSING", False),
    ],
)
def test_only_what_nothing_can_do_without_is_missing(
    row: Row, word: str, ok: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "examine", lambda _: (row,))
    show = Heard()
    assert pipeline.doctor(show) is ok
    assert show.messages == [f"{word} {row.what}: {row.found}", f"        {row.remedy}"]
