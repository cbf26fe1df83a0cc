"""The agent's calls when no agent runs: one process a call, by `docker exec`.

For healing. Canaries do not live longer than their call, so they cannot be asked this way.
"""

import asyncio
import json
from typing import Any

from faults.core.model import FaultError
from faults.executors.project import Project

_COMMAND = ["python", "-m", "harness.workers.agent", "once"]
_START_S = 10.0  # a process has to start first


class OnceAgent:
    """AgentCalls over one-shot processes in the project's agent container."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        request = json.dumps({"do": name, "timeout_s": timeout_s, **arguments})
        try:
            async with asyncio.timeout(timeout_s + _START_S):
                text = await asyncio.to_thread(self._said, request)
        except TimeoutError:
            raise FaultError(f"{name}: no answer from a one-shot agent") from None
        return _value(name, text)

    def _said(self, request: str) -> str:
        return self._project.execute(self._project.agent(), [*_COMMAND, request]).text


def _value(name: str, text: str) -> dict[str, Any]:
    lines = text.strip().splitlines() or [""]
    try:
        said = json.loads(lines[-1])
        if said["say"] == "answer":
            return dict(said["value"])
        reason = f"{said['kind']}: {said['text']}"
    except (ValueError, KeyError, TypeError):
        reason = text.strip()[-500:] or "it said nothing"
    raise FaultError(f"{name}: {reason}")
