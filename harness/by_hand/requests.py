"""The side of the command line: it starts a keeper, and sends it requests.

1. The keeper outlives this process once it is up. Before that it ends with it.
2. A keeper that is dead answers nothing: its clusters are cleaned up as `mqproof heal` does it.
"""

import asyncio
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from harness.by_hand.choosing import absolute
from harness.cleanup.everywhere import heal_all
from harness.cleanup.heal import Chosen
from harness.cluster.port import DeployError
from harness.deploy import by_hand_files
from harness.deploy import by_hand_lines as lines
from harness.deploy.by_hand_files import LOG, ByHandClusters, DamagedDocument
from harness.judging.exits import Exit
from harness.outside.locks import LockAnswer, lock
from harness.plan.problems import PlanError, Problem
from harness.run import signals
from harness.systems.files import PACKAGES, own_folder
from harness.workers.protocol import decode, encode
from spark_analysis.files.failed import os_reason

Hear = Callable[[Mapping[str, Any]], None]
_NONE = "no clusters by hand are running"
_ADVICE = "`mqproof up` starts some"
_AFTER = "wait for it, then: `mqproof status`"
_YOUNG = "the clusters are still on their way: wait for `mqproof up`, or end it by Ctrl-C"
_ANSWER_LIMIT_S = 30.0
_END_LIMIT_S = 180.0


class KeeperCrash(Exception):
    """The keeper ended by a defect: what it wrote."""


@dataclass(frozen=True, slots=True)
class KeptClusters:
    """The clusters of one folder. `lives`: whether their keeper does."""

    folder: Path
    lives: bool
    clusters: ByHandClusters | None  # None: the document is damaged, and `damage` says how
    damage: str = ""


def kept() -> tuple[KeptClusters, ...]:
    """Return all that was started and is not down."""
    return tuple(map(_kept, by_hand_files.folders()))


def _kept(folder: Path) -> KeptClusters:
    lives = by_hand_files.is_held(folder)
    try:
        return KeptClusters(folder, lives, by_hand_files.load(folder))
    except DamagedDocument as error:
        return KeptClusters(folder, lives, None, str(error))


def running() -> KeptClusters:
    """Return the clusters that run. Raise DeployError with what to do instead."""
    found = kept()
    if not found:
        raise DeployError(f"{_NONE}; {_ADVICE}")
    (one, *_) = found
    if not one.lives:
        raise DeployError(f"the keeper of {one.folder} is dead: `mqproof down` cleans up")
    if by_hand_files.is_young(one.folder):
        raise DeployError(_YOUNG)
    if one.clusters is None:
        raise DeployError(f"{one.damage}; `mqproof down` takes the clusters down all the same")
    if not one.clusters.running:
        raise DeployError(f"the clusters are still on their way (process {one.clusters.pid})")
    return one


def up(words: Sequence[str], deployment: str, hear: Hear) -> ByHandClusters:
    """Start the clusters; `hear` gets the steps. Raise DeployError, PlanError if some run."""
    for one in kept():
        process = f" (process {one.clusters.pid})" if one.lives and one.clusters else ""
        found = "clusters by hand run already" if one.lives else "a dead keeper left clusters"
        what = f"{found}{process}"
        raise PlanError([Problem("", what, advice="`mqproof status`, then `mqproof down`")])
    folder = by_hand_files.state() / secrets.token_hex(4)
    with _begun(folder) as log:  # it can be read when the folder is gone
        keeper = _begin(folder, words, deployment, log)
        with _ended_unless_up(keeper, hear) as said:
            if not _is_up(said, hear):
                keeper.wait()
                raise KeeperCrash(_text(log))
            clusters = _kept(folder).clusters
            assert clusters is not None, "its keeper has just written it"
    return clusters


@contextmanager
def _begun(folder: Path) -> Iterator[IO[bytes]]:
    """Make the one folder that there is; yield its log. Raise DeployError, PlanError."""
    every = by_hand_files.state()
    with ExitStack() as held:
        try:
            own_folder(every)
            is_held = lock(every, held, wait=False) is LockAnswer.HELD
            if is_held or by_hand_files.folders():
                raise PlanError([Problem("", "another `mqproof up` has begun", advice=_AFTER)])
            own_folder(folder)
            log = held.enter_context((folder / LOG).open("a+b"))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise DeployError(os_reason(error, folder)) from error
        yield log


def _begin(
    folder: Path, words: Sequence[str], deployment: str, log: IO[bytes]
) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "harness.by_hand.keeper", "--folder", str(folder.resolve())]
    return subprocess.Popen(
        [*command, "--deployment", deployment, *map(absolute, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=PACKAGES,  # where they lie, installed or not
        start_new_session=True,
    )


@contextmanager
def _ended_unless_up(keeper: "subprocess.Popen[bytes]", hear: Hear) -> Iterator[IO[bytes]]:
    """Yield the keeper's lines, and let it go at the end. After an exception have it remove
    everything, and wait."""
    assert keeper.stdin is not None, "it was started with pipes"
    assert keeper.stdout is not None, "it was started with pipes"
    try:
        yield keeper.stdout
        keeper.stdin.write(lines.GO)
        keeper.stdin.close()
    except BaseException:
        signals.silence()
        with suppress(OSError):
            keeper.stdin.close()
        for line in keeper.stdout:
            hear(decode(line))
        keeper.wait()
        raise
    finally:
        keeper.stdout.close()


def _is_up(stream: IO[bytes], hear: Hear) -> bool:
    """Return False if the keeper ends without a word. Raise DeployError, PlanError with its
    words."""
    for line in stream:
        message = decode(line)
        match message["say"]:
            case lines.UP:
                return True
            case lines.REFUSED:
                raise PlanError(Problem("", text) for text in message["problems"])
            case lines.FAILED:
                raise DeployError(str(message["text"]))
            case _:
                hear(message)
    return False


def _text(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode(errors="replace")


def status(one: KeptClusters) -> Mapping[str, Any]:
    """Return what the keeper reports of clusters and faults. Raise DeployError."""
    with _connected(one, _ANSWER_LIMIT_S) as (_, answers):
        for message in answers:
            if message["say"] == lines.CLUSTERS:
                return message
    raise DeployError(f"the keeper of {one.folder} gave no answer")


def fault(one: KeptClusters, given: Mapping[str, object], system: str, hear: Hear) -> Exit:
    """Inject a fault, and return when it has ended. Raise PlanError, DeployError.

    An interrupt (KeyboardInterrupt) is passed on, and the undo is waited for.
    """
    request = {"do": lines.FAULT, "fault": dict(given), "system": system}
    with _connected(one, None, request) as (connection, answers):
        while True:
            try:
                return _played(answers, hear)
            except KeyboardInterrupt:
                connection.sendall(encode({"do": lines.INTERRUPT}))


def _played(answers: Iterator[dict[str, Any]], hear: Hear) -> Exit:
    for message in answers:
        match message["say"]:
            case lines.END:
                return Exit(message["code"])
            case lines.REFUSED:
                raise PlanError(Problem("", text) for text in message["problems"])
            case lines.FAILED:
                raise DeployError(str(message["text"]))
            case lines.CRASHED:
                raise KeeperCrash(str(message["text"]))
            case _:
                hear(message)
    raise DeployError("the keeper ended; its guardian undoes the fault, or else `mqproof heal`")


def down(one: KeptClusters, hear: Hear) -> Exit:
    """Take the clusters of one folder down, or clean up what a dead keeper left."""
    if not one.lives:
        return _cleaned_up(one.folder, hear)
    if by_hand_files.is_young(one.folder):
        raise DeployError(_YOUNG)
    with _connected(one, _END_LIMIT_S, {"do": lines.DOWN}) as (_, answers):
        if not _is_down(answers, hear):
            what = f"the keeper of {one.folder} ended before all was removed"
            raise DeployError(f"{what}; again: mqproof down")
    return Exit.PASSED


def _is_down(answers: Iterator[dict[str, Any]], hear: Hear) -> bool:
    """Hear the keeper out; return whether it reported that everything is removed."""
    removed = False
    for message in answers:
        match message["say"]:
            case lines.FAILED:
                raise DeployError(f"{message['text']}; then: mqproof heal")
            case lines.REFUSED:
                raise PlanError(Problem("", text) for text in message["problems"])
            case lines.END:
                removed = message["code"] == Exit.PASSED
        hear(message)
    return removed


def _cleaned_up(folder: Path, hear: Hear) -> Exit:
    """Do what `mqproof heal` does, for this folder alone."""

    def say(text: str) -> None:
        hear({"say": lines.MESSAGE, "text": text})

    healed = asyncio.run(heal_all(say, Chosen(results=folder)))
    return Exit.PASSED if healed else Exit.NOT_DECIDED


def _mute(one: KeptClusters, error: OSError) -> str:
    who = f"process {one.clusters.pid}" if one.clusters else "its process"
    return (
        f"the keeper of {one.folder} does not answer ({error.strerror or error}); end {who} by "
        "kill -9, wait 10 s for its guardian, then: mqproof down"
    )


@contextmanager
def _connected(
    one: KeptClusters, limit_s: float | None, request: Mapping[str, Any] | None = None
) -> Iterator[tuple[socket.socket, Iterator[dict[str, Any]]]]:
    """Send the request; yield the connection and its answers. Raise DeployError."""
    try:
        with socket.socket(socket.AF_UNIX) as connection, lines.socket_path(one.folder) as path:
            connection.settimeout(limit_s)
            connection.connect(path)
            connection.sendall(encode(dict(request or {"do": lines.STATUS})))
            yield connection, _answers(connection)
    except OSError as error:
        raise DeployError(_mute(one, error)) from error


def _answers(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """Survives KeyboardInterrupt: what had come by then is not lost."""
    return _Lines(connection)


class _Lines:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._come = b""

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> dict[str, Any]:
        while b"\n" not in self._come:
            more = self._connection.recv(1 << 16)
            if not more:
                raise StopIteration
            self._come += more
        line, _, self._come = self._come.partition(b"\n")
        return decode(line)
