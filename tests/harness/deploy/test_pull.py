"""A pull has an end, and says whether its limit was the cause."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import ImageNotFound

from harness.deploy import engine, pull, users_images
from harness.deploy.pull import PullFailure, why_not_pulled
from harness.plan.problems import PlanError
from tests.harness.deploy.test_users_images import THREE, experiment


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Set at the end: what a registry that is waited for waits for."""
    event = threading.Event()
    yield event
    event.set()


def registry(*lines: dict[str, str], waits_for: threading.Event | None = None) -> Any:
    """An engine without images, whose registry says this, and then waits."""

    def stream(*_: object, **__: object) -> Iterator[dict[str, str]]:
        yield from lines
        if waits_for is not None:
            waits_for.wait(30)

    def get(name: str) -> None:
        raise ImageNotFound(name)

    images = SimpleNamespace(get=get)
    return SimpleNamespace(api=SimpleNamespace(pull=stream), images=images)


def test_a_pull_that_ends_has_no_failure() -> None:
    said: list[str] = []
    assert why_not_pulled(registry({"status": "done"}), "mine:1", said.append) is None
    assert said == ["pulling mine:1"]


def test_a_refused_pull_is_not_late() -> None:
    said: list[str] = []
    failure = why_not_pulled(registry({"error": "no such image"}), "mine:1", said.append)
    assert failure == PullFailure("no such image")
    assert said == ["pulling mine:1"], "the caller reports the failure, once"
    assert not pull.pull(registry({"error": "no such image"}), "mine:1", said.append)
    assert said[-1] == "not pulled: no such image"


@pytest.mark.parametrize(
    ("lines", "text"),
    [((), "the registry was silent for 0 s"), (({"status": "1 of 9"},), "not whole after 0 s")],
)
def test_a_missed_limit_is_late_and_docker_pull_is_advised(
    lines: tuple[dict[str, str], ...],
    text: str,
    over: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pull, "FIRST_WORD_LIMIT_S", 10.0 if lines else 0.01)
    monkeypatch.setattr(pull, "WHOLE_LIMIT_S", 0.01)
    client, said = registry(*lines, waits_for=over), list[str]()
    failure = why_not_pulled(client, "mine:1", print)
    assert failure == PullFailure(text, late=True)
    monkeypatch.setattr(engine, "connect", lambda: client)
    layout = replace(THREE, image="mine:1")
    with pytest.raises(PlanError) as caught:
        users_images.prepare(experiment(layout), said.append)
    assert said == ["pulling mine:1"]
    assert f"image mine:1: it is not on this machine, and its pull failed: {text}" in str(
        caught.value
    )
    assert "what to do: `docker pull mine:1`, which has no time limit" in str(caught.value)
