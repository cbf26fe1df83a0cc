"""Looks at a compose project from outside: engine, helper, host namespaces, agent.

1. A process is what the engine says of its container; several of a host are judged as one.
2. Packets are our chain's own counters, read by a helper. An attempt is made from inside a
   host's namespace, by its own container, and timed there.
3. Canaries and protocol questions are the agent's; a canary asks what its node answers alone.
4. What listing a broker means is passed in.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from docker import DockerClient

from faults.executors import packet_filter
from faults.executors.ports import Agent, AgentCalls, Failures
from faults.executors.project import Project
from faults.model import Armed, FaultError, ProcessState, Reply, Stall
from faults.verify import DIRECT, KILLED, SILENCE_S

WAIT_S = SILENCE_S + 0.5  # a little more than the silence that the rules ask for
OPEN_LIMIT_S = 5.0
GREET_LIMIT_S = 3.0
CLOSE_LIMIT_S = 5.0
TIMED_OUT = 124  # the status of `timeout`
T = TypeVar("T")

Dial = Callable[[str], tuple[str, int]]  # a proxy's name -> its listener, as the agent dials it
Listed = Callable[[str], Awaitable[bool]]  # whether the cluster lists a host's broker as running


class ComposeWitness:
    """The witness of one project.

    `failures`: what the agent and `listed` raise besides FaultError. `port`: where brokers of the
    project speak their protocol.
    """

    def __init__(
        self,
        client: DockerClient,
        project: str,
        agent: AgentCalls,
        dial: Dial,
        listed: Listed,
        failures: Failures = (),
        port: int = 5672,
    ) -> None:
        self._project = Project(client, project)
        self._agent = Agent(agent, failures)
        self._dial = dial
        self._listed = listed
        self._failures = failures
        self._port = port
        self._threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="witness")

    async def prepare(self, armed: Armed) -> None:
        if not isinstance(armed.action, Stall):
            return
        ways = {proxy: self._dial(proxy) for proxy in armed.action.proxies}
        ways[DIRECT] = (armed.resolved, self._port)
        opened = await asyncio.gather(
            *(self._open(_canary(armed, name), *way) for name, way in ways.items()),
            return_exceptions=True,
        )
        for failure in opened:
            if failure is not None:
                raise failure

    async def process(self, host: str) -> ProcessState:
        return await self._in_thread(lambda: self._process(host))

    async def packets(self, host: str, chain: str) -> int | None:
        script = packet_filter.count(chain)
        output = await self._in_thread(lambda: self._project.help(host, script))
        return packet_filter.dropped(output.text)

    async def reach(self, host: str, peer: str) -> Reply:
        return await self._in_thread(lambda: self._reach(host, peer))

    async def canaries(self, armed: Armed) -> dict[str, Reply]:
        names = _canary_names(armed)
        replies = await asyncio.gather(*(self._ask(_canary(armed, name)) for name in names))
        return dict(zip(names, replies, strict=True))

    async def serves(self, host: str) -> Reply:
        said = await self._agent.call("greet", GREET_LIMIT_S, host=host, port=self._port)
        reply = _reply(said)
        if not reply.answered:
            return reply
        try:
            listed = await self._listed(host)
        except self._failures as error:
            return Reply(False, reply.seconds, f"it answers, but nobody lists it: {error}")
        if not listed:
            return Reply(False, reply.seconds, "it answers, but the cluster does not list it")
        return reply

    async def dismiss(self, armed: Armed) -> None:
        for name in _canary_names(armed):
            await self._agent.call("canary_close", CLOSE_LIMIT_S, canary=_canary(armed, name))

    async def _open(self, canary: str, host: str, port: int) -> None:
        await self._agent.call(
            "canary_open", OPEN_LIMIT_S, canary=canary, host=host, port=port, queue=""
        )

    async def _ask(self, canary: str) -> Reply:
        return _reply(await self._agent.call("canary_ask", WAIT_S, canary=canary))

    def _process(self, host: str) -> ProcessState:
        states = [process.attrs["State"] for process in self._project.processes(host)]
        if any(state["Running"] for state in states):
            return ProcessState(running=True, exit_code=None)
        # The worst: what was not killed shows before what was.
        codes = sorted(
            (int(state["ExitCode"]) for state in states), key=lambda code: code == KILLED
        )
        return ProcessState(running=False, exit_code=codes[0])

    def _reach(self, host: str, peer: str) -> Reply:
        address = self._project.addresses(peer)[0]
        command = ["bash", "-c", _ATTEMPT, "attempt", address, str(self._port), f"{WAIT_S:g}"]
        output = self._project.execute(self._project.host(host), command)
        return _attempted(output.text, f"{host} -> {peer} ({address}:{self._port})")

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


# Times by /proc/uptime, a clock that nobody sets; the last line is `status seconds-before
# seconds-after`, and what stands before it is the shell's own error.
_ATTEMPT = """
read -r before _ </proc/uptime
timeout "$3" bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>&1
status=$?
read -r after _ </proc/uptime
echo "$status $before $after"
"""


def _attempted(text: str, way: str) -> Reply:
    lines = text.strip().splitlines()
    try:
        status, before, after = lines[-1].split()
        seconds = float(after) - float(before)
        code = int(status)
    except (IndexError, ValueError):
        raise FaultError(f"{way}: the attempt said {text.strip()!r}") from None
    if code == 0:
        return Reply(True, seconds, "connected")
    if code == TIMED_OUT:
        return Reply(False, seconds, f"silent for {seconds:.2f} s")
    return Reply(False, seconds, f"{way}: {' '.join(lines[:-1]) or f'status {code}'}")


def _reply(said: dict[str, Any]) -> Reply:
    return Reply(bool(said["answered"]), float(said["seconds"]), str(said["detail"]))


def _canary_names(armed: Armed) -> tuple[str, ...]:
    return (*armed.action.proxies, DIRECT) if isinstance(armed.action, Stall) else ()


def _canary(armed: Armed, name: str) -> str:
    assert isinstance(armed.action, Stall), armed
    return f"{armed.action.toxic}.{name}"
