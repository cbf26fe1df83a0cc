"""Clusters that a keeper (`mqproof up`) runs, as a port.Deployment for runs.

1. The keeper says whether a cluster is clean; it hands one to a run at a time.
2. While the connection to the keeper is open, the run has the cluster. When it ends, however, the
   keeper undoes the run's faults, ends its workers and deletes its queues.
3. The keeper is the nodes' parent: it starts them for the run, and reports how they end.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from faults.core.mechanisms import LOCAL
from harness.cluster.port import Cluster, DeployError, Progress
from harness.deploy import by_hand_lines as lines
from harness.deploy.by_hand_layouts import fingerprint
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import Equip as EquipCompose
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import Equip as EquipLocal
from harness.deploy.standing import in_containers as compose
from harness.deploy.standing import subprocesses as local
from harness.plan.model import Layout
from harness.workers.protocol import decode, encode

_ANSWER_LIMIT_S = 60.0
_RELEASE_LIMIT_S = 120.0
_START_LIMIT_S = 10.0
_TAKE_DOWN = "`mqproof down`, then `mqproof up`"
_LOST = "the keeper of the clusters ended; see `mqproof status`"

Lost = Callable[[str], object]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StandingDeployment:
    """`folder`: of the keeper. `lost` is called with a reason if the keeper ends during a run;
    `report` with what a run left on a cluster.
    """

    folder: Path
    deployment: str
    equip_local: EquipLocal
    equip_compose: EquipCompose
    lost: Lost
    report: Report

    async def up(self, layout: Layout, experiment_folder: Path, progress: Progress) -> Cluster:
        """Attach to the running cluster. Raise DeployError if it is not clean."""
        progress(f"attach to the running cluster of {layout.system}")
        kept = await KeptCluster.attach(self, layout, experiment_folder)
        try:
            cluster = await self._cluster(kept, layout)
        except BaseException:
            await asyncio.shield(kept.release())
            raise
        cluster.release = kept.release
        return cluster

    async def _cluster(self, kept: "KeptCluster", layout: Layout) -> LocalCluster | ComposeCluster:
        if self.deployment == LOCAL:
            begin = partial(kept.start, layout.system)
            return await local.attached(layout, kept.facts, begin, kept.ends, self.equip_local)
        return await compose.attached(layout, kept.facts, self.equip_compose)


async def doubts(folder: Path, layout: Layout) -> tuple[str, ...]:
    """Return why no run may use the cluster now; empty if it is clean. Raise DeployError."""
    reader, writer = await _opened(folder, _request(lines.CHECK, layout, Path()))
    try:
        async with asyncio.timeout(_ANSWER_LIMIT_S):
            answer = await _next(reader)
    except TimeoutError:
        raise DeployError(f"the keeper of {folder} did not answer") from None
    finally:
        writer.close()
    return () if answer["say"] == lines.CLEAN else tuple(map(str, answer["problems"]))


class KeptCluster:
    """A cluster that the keeper has handed to this run. `facts`: what it takes to attach to it.

    `ends`: by pid, the exit status of each node's process that has ended.
    """

    def __init__(
        self,
        by: StandingDeployment,
        facts: dict[str, Any],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.facts = facts
        self.ends: dict[int, int] = {}
        self._by = by
        self._writer = writer
        self._released = False
        self._hearing = asyncio.create_task(self._hear(reader))

    @classmethod
    async def attach(
        cls, by: StandingDeployment, layout: Layout, experiment: Path
    ) -> "KeptCluster":
        """Raises DeployError."""
        reader, writer = await _opened(by.folder, _request(lines.RUN, layout, experiment))
        try:
            async with asyncio.timeout(_ANSWER_LIMIT_S):
                answer = await _next(reader)
            if answer["say"] != lines.ATTACHED:
                why = "; ".join(map(str, answer["problems"]))
                raise DeployError(f"the running cluster cannot be used: {why}")
        except TimeoutError:
            writer.close()
            raise DeployError(f"the keeper of {by.folder} did not answer") from None
        except BaseException:
            writer.close()
            raise
        return cls(by, dict(answer["facts"]), reader, writer)

    def start(self, system: str, place: str) -> int:
        """Have the keeper start a node; return its pid. Raise OSError.

        It blocks, as the start of a process does.
        """
        request = {"do": lines.START, "system": system, "place": place}
        with (
            socket.socket(socket.AF_UNIX) as connection,
            lines.socket_path(self._by.folder) as path,
        ):
            connection.settimeout(_START_LIMIT_S)
            connection.connect(path)
            connection.sendall(encode(request))
            with connection.makefile("rb") as stream:
                answer = decode(stream.readline() or b"{}")
        if answer.get("say") != lines.STARTED:
            raise OSError(f"the keeper did not start {place}: {answer.get('text', 'no answer')}")
        return int(answer["pid"])

    async def release(self) -> None:
        """Give the cluster back, and wait until the keeper has cleaned up."""
        self._released = True
        with suppress(OSError):
            self._writer.write(encode({"do": lines.END}))
        done, _ = await asyncio.wait({self._hearing}, timeout=_RELEASE_LIMIT_S)
        self._writer.close()
        if not done:
            self._by.report("the keeper did not take the cluster back; see `mqproof status`")

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        """Read what the keeper reports, until the cluster is given back or the keeper ends."""
        while True:
            try:
                message = await _next(reader)
            except DeployError:
                (self._by.report if self._released else self._by.lost)(_LOST)
                return
            match message["say"]:
                case lines.ENDED:
                    self.ends[int(message["pid"])] = int(message["code"])
                case lines.FAILED:
                    self._by.lost(str(message["text"]))
                case lines.END:
                    if message["text"]:
                        self._by.report(f"{message['text']}; what to do: {_TAKE_DOWN}")
                    return


def _request(do: str, layout: Layout, experiment: Path) -> dict[str, Any]:
    return {
        "do": do,
        "system": layout.system,
        "label": layout.label,
        "layout": fingerprint(layout),
        "experiment": str(experiment.resolve()),
        "pid": os.getpid(),
    }


async def _opened(
    folder: Path, request: dict[str, Any]
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Raises DeployError."""
    try:
        with lines.socket_path(folder) as path:
            reader, writer = await asyncio.open_unix_connection(path, limit=lines.LINE_BYTES_MAX)
        writer.write(encode(request))
    except OSError as error:
        why = error.strerror or error
        raise DeployError(f"the keeper of {folder} does not answer: {why}") from error
    return reader, writer


async def _next(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Raises DeployError if the keeper has ended."""
    try:
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise DeployError(_LOST)
        return decode(line)
    except (OSError, ValueError) as error:
        raise DeployError(_LOST) from error
