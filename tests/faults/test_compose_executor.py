"""What the compose executor does about an engine that is too busy; the rest needs containers."""

from typing import Any, cast

import pytest
from docker.errors import APIError

from faults.executors.compose import PAUSE_TRIES, _pause, _unpause
from faults.executors.project import PAUSED, RUNNING

BUSY = "OCI runtime pause failed: unable to freeze: unknown"


class Container:
    """A container whose pause fails so many times, with these words."""

    def __init__(self, status: str = RUNNING, failures: int = 0, words: str = BUSY) -> None:
        self.status = status
        self.calls: list[str] = []
        self._failures = failures
        self._words = words

    def pause(self) -> None:
        self.calls.append("pause")
        if len(self.calls) <= self._failures:
            raise APIError(self._words)

    def unpause(self) -> None:
        self.calls.append("unpause")


def like_a_container(container: Container) -> Any:
    return cast(Any, container)


def test_a_freeze_that_the_kernel_delays_is_retried() -> None:
    container = Container(failures=PAUSE_TRIES - 1)
    _pause(like_a_container(container))
    assert container.calls == ["pause"] * PAUSE_TRIES


@pytest.mark.parametrize(
    ("failures", "words", "tries"),
    [(PAUSE_TRIES, BUSY, PAUSE_TRIES), (1, "no such container", 1)],
)
def test_a_freeze_that_fails_for_good_is_an_error(failures: int, words: str, tries: int) -> None:
    container = Container(failures=failures, words=words)
    with pytest.raises(APIError, match=words):
        _pause(like_a_container(container))
    assert container.calls == ["pause"] * tries


@pytest.mark.parametrize(("status", "calls"), [(PAUSED, ["unpause"]), (RUNNING, [])])
def test_only_what_is_paused_is_unpaused(status: str, calls: list[str]) -> None:
    container = Container(status)
    _unpause(like_a_container(container))
    assert container.calls == calls
