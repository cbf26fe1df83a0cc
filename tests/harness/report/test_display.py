"""Steps of a build: one line for all its parts, and one for each part that takes long."""

from dataclasses import dataclass, field
from threading import Event

import pytest

from harness.report import display
from harness.report.display import Steps
from tests.rigs.runs.displays import Heard

BUILD = "building mqproof/worker:1"


@dataclass
class Screen(Heard):
    steps: list[str] = field(default_factory=list)
    shown: Event = field(default_factory=Event)

    def step_began(self, name: str, expected_s: float | None) -> None:
        self.steps.append(name)

    def message(self, text: str) -> None:
        super().message(text)
        self.shown.set()


def test_quick_parts_of_a_build_are_not_shown() -> None:
    screen = Screen()
    steps = Steps(screen)
    for name in (BUILD, f"{BUILD}: Step 1/2 : FROM debian", f"{BUILD}: Step 2/2 : COPY . ."):
        steps.begin(name)
    steps.begin("start containers")
    steps.end()
    assert screen.steps == [BUILD, "start containers"]
    assert screen.messages == []


def test_a_slow_part_is_shown_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display, "SLOW_PART_S", 0.01)
    screen = Screen()
    steps = Steps(screen)
    steps.begin(BUILD)
    steps.begin(f"{BUILD}: Step 1/2 : RUN apt-get update")
    assert screen.shown.wait(10)
    assert screen.messages == [f"{BUILD}: Step 1/2 : RUN apt-get update ..."]
    steps.end()
