"""A display that shows nothing, and keeps what it was reported."""

from dataclasses import dataclass, field

from harness.run.core.view import LiveCounts


@dataclass
class Heard:
    messages: list[str] = field(default_factory=list)

    def step_began(self, name: str, expected_s: float | None) -> None: ...

    def step_ended(self, seconds: float) -> None: ...

    def live(self, view: LiveCounts) -> None: ...

    def message(self, text: str) -> None:
        self.messages.append(text)
