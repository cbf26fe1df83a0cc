"""A process that does not come up is named, with its exit code and its last words."""

from dataclasses import dataclass, field
from typing import Any, cast

import docker
from docker.errors import NotFound

from harness.deploy.compose.container_state import Start, failure, last_words

PROCESSES = {"c1": "rmq1", "c2": "rmq2"}


@dataclass
class Container:
    attrs: dict[str, Any]
    output: bytes

    def logs(self, tail: int) -> bytes:
        return b"\n".join(self.output.splitlines()[-tail:])


@dataclass
class Engine:
    """An engine that knows these containers."""

    known: dict[str, Container] = field(default_factory=dict)

    @property
    def containers(self) -> "Engine":
        return self

    def get(self, name: str) -> Container:
        if name not in self.known:
            raise NotFound("no such container")
        return self.known[name]


def container(status: str, code: int = 0, output: bytes = b"") -> Container:
    return Container({"State": {"Status": status, "ExitCode": code}}, output)


def engine(**known: Container) -> docker.DockerClient:
    return cast(docker.DockerClient, Engine(known))


def test_ended_process_is_named_with_its_code_and_last_output() -> None:
    ended = container("exited", 3, b"booting\nthe licence has expired\n")
    found = failure(engine(c1=container("running"), c2=ended), PROCESSES)
    assert found == "the process of rmq2 ended with 3\n  booting\n  the licence has expired"


def test_running_or_unknown_process_is_no_failure() -> None:
    assert failure(engine(c1=container("running")), PROCESSES) == ""


def test_silent_process_is_reported_and_long_output_is_cut() -> None:
    assert failure(engine(c1=container("dead", 137)), PROCESSES) == (
        "the process of rmq1 ended with 137; it wrote nothing"
    )
    many = container("exited", 1, b"\n".join(b"%d" % number for number in range(100)))
    assert last_words(engine(c1=many), ["c1"]).splitlines()[1:] == [
        f"  {number}" for number in range(80, 100)
    ]


def test_start_is_over_when_all_answer_or_one_ended() -> None:
    assert Start((), "").over
    assert Start(("rmq1",), "the process of rmq1 ended with 1").over
    assert not Start(("rmq1",), "").over
