"""Pulls an image within a deadline, so that a silent network does not block a run.

1. A failed pull is an answer, not an error: the caller builds instead, or reports what it lacks.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

import docker
from docker.errors import APIError, DockerException
from docker.utils import parse_repository_tag

from harness.cluster.port import Progress

FIRST_WORD_LIMIT_S = 10.0  # until the registry has been heard of
WHOLE_LIMIT_S = 300.0
LATEST = "latest"  # without a tag the engine would pull every one


@dataclass(frozen=True, slots=True)
class PullFailure:
    """Why an image was not pulled. `late`: because mqproof waited no longer."""

    text: str
    late: bool = False


def pull(client: docker.DockerClient, name: str, progress: Progress) -> bool:
    """Return whether the image is here now; `progress` gets the reason if it is not."""
    failure = why_not_pulled(client, name, progress)
    if failure is not None:
        progress(f"not pulled: {failure.text}")
    return failure is None


def why_not_pulled(
    client: docker.DockerClient, name: str, progress: Progress
) -> PullFailure | None:
    """Pull an image. What goes on behind a missed deadline does no harm. The caller reports the
    failure, once."""
    progress(f"pulling {name}")
    return _pulled(client, name)


def _pulled(client: docker.DockerClient, name: str) -> PullFailure | None:
    first_word, done = threading.Event(), threading.Event()
    outcome: list[str] = []

    def work() -> None:
        outcome.append(_pull(client, name, first_word.set))
        first_word.set()
        done.set()

    threading.Thread(target=work, name=f"pull {name}", daemon=True).start()
    if not first_word.wait(FIRST_WORD_LIMIT_S):
        return PullFailure(f"the registry was silent for {FIRST_WORD_LIMIT_S:.0f} s", late=True)
    if not done.wait(WHOLE_LIMIT_S):
        return PullFailure(f"not whole after {WHOLE_LIMIT_S:.0f} s", late=True)
    return PullFailure(outcome[0]) if outcome[0] else None


def _pull(client: docker.DockerClient, name: str, first_word: Callable[[], None]) -> str:
    """Empty when it is here, else the reason."""
    repository, tag = parse_repository_tag(name)
    try:
        for line in client.api.pull(repository, tag=tag or LATEST, stream=True, decode=True):
            if "error" in line:
                return str(line["error"]).strip()
            first_word()
    except APIError as error:
        return str(error.explanation or error)
    except (DockerException, OSError) as error:
        return str(error)
    return ""
