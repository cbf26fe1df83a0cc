"""The prober of a RocketMQ cluster: asks every name server, all the time, what it shows, and every
voter who leads.

1. Every PERIOD_S each name server is asked for the route of the topic and for the cluster, and
   each voter who leads (voters.py), whether or not earlier questions were answered: one that hangs
   is looked at as often as others.
2. Every look is a row of `probes`: kind `route` or `cluster`, target the name server, or `leader`,
   target the voter; detail what it shows or says, or why nothing came. What differs from the look
   before is an event.
3. If this process itself stalled during a look, a missing answer is no evidence: the row says so,
   and there is no event.
4. It carries no load and shares no connection with workers that do.
"""

import asyncio
from collections.abc import Awaitable, Callable

from harness.workers.protocol import Endpoint, WorkerConfig
from harness.workers.recorder import Recorder
from harness.workers.remoting import answers, requests
from harness.workers.remoting.commands import Command
from harness.workers.remoting.errors import RequestRefused, WireError
from harness.workers.remoting.leaders import Says
from harness.workers.remoting.requests import Request
from harness.workers.remoting.routes import View
from harness.workers.remoting.watch import Answered, RouteQuery, Watch
from harness.workers.rocketmq.connection import Unanswered
from harness.workers.rocketmq.line import Line
from harness.workers.rocketmq.voters import Voter, say, voters
from spark_analysis.schema.views import CLUSTER, LEADER, ROUTE, STOOD_STILL

PERIOD_S = 0.4  # twice a second and more, even where a round begins a little late
LIMIT_S = 1.0
TICK_NS = 100_000_000  # the session's
STALL_NS = 100_000_000  # a tick later than this: the process stood still (docs/verdicts.md 15)

_Read = Callable[[Request, Command], View]
_Question = Callable[[Line], Awaitable[Answered]]


class Prober:
    """`config.endpoints` are the name servers, `config.queue` is the topic.

    `ready` is called once, when the first of them has answered.
    """

    def __init__(
        self, config: WorkerConfig, recorder: Recorder, ready: Callable[[], None]
    ) -> None:
        self._recorder = recorder
        self._ready = ready
        self._ticked_ns = recorder.now_ns()
        self._stalled_until_ns = -1  # when it last went on after it had stood still
        route = _query(requests.route(config.queue), answers.route)
        cluster = _query(requests.cluster_info(), answers.cluster)
        shown = ((ROUTE, route), (CLUSTER, cluster))
        self._ways = tuple(_Way(endpoint, shown) for endpoint in config.endpoints)
        self._ways += tuple(
            _Way(voter.endpoint, ((LEADER, _leader_query(voter)),)) for voter in voters(config.own)
        )

    async def run(self) -> None:
        """Goes on until it is cancelled."""
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        async with asyncio.TaskGroup() as looks:
            while True:
                for way in self._ways:
                    for kind, question in way.questions:
                        looks.create_task(self._look(way, kind, question))
                # A round that was due while this process stood still is not made up for.
                due_s = max(due_s + PERIOD_S, loop.time())
                await asyncio.sleep(due_s - loop.time())

    def start(self, at_ns: int) -> None:
        """Probing begins with the configuration."""

    def stop_load(self) -> None:
        """There is no load; probing goes on until it is closed."""

    def tick(self) -> None:
        """Ten times a second; rows leave with the session's own flushes."""
        if self._late():
            self._stalled_until_ns = self._recorder.now_ns()
        self._ticked_ns = self._recorder.now_ns()

    def status(self) -> dict[str, int]:
        counts = ("sent", "confirmed", "unknown", "missed", "delivered", "outstanding")
        return dict.fromkeys(counts, 0)

    async def close(self, nicely: bool) -> None:  # noqa: ARG002  (the port's)
        """The same either way: a question needs no farewell. `run` must have ended."""
        for way in self._ways:
            way.line.close()

    async def _look(self, way: "_Way", kind: str, question: _Question) -> None:
        started_ns = self._recorder.now_ns()
        view, doubt = None, ""
        try:
            view = await question(way.line)
        except (Unanswered, RequestRefused, WireError) as error:
            doubt = str(error)
        stalled = self._late() or self._stalled_until_ns >= started_ns
        if doubt and stalled:
            doubt += STOOD_STILL
        look = RouteQuery(kind, started_ns, self._recorder.now_ns(), view, doubt, stalled)
        self._note(way, look)

    def _late(self) -> bool:
        return self._recorder.now_ns() - self._ticked_ns > TICK_NS + STALL_NS

    def _note(self, way: "_Way", look: RouteQuery) -> None:
        ok = look.view is not None
        target = way.line.endpoint.host
        self._recorder.probe(look.kind, target, look.started_ns, look.ended_ns, ok, look.detail)
        for change in way.watch.see(look):
            self._recorder.event(change.kind, way.line.connects, change.detail)
        if ok and look.kind != LEADER:
            self._ready()


class _Way:
    """One server at one port: the line to it, and the changes in its answers."""

    def __init__(self, endpoint: Endpoint, questions: tuple[tuple[str, _Question], ...]) -> None:
        self.line = Line(endpoint)
        self.watch = Watch(endpoint.host)
        self.questions = questions


def _query(request: Request, read: _Read) -> _Question:
    async def question(line: Line) -> View:
        return read(request, await line.ask(request, LIMIT_S))

    return question


def _leader_query(voter: Voter) -> _Question:
    async def question(line: Line) -> Says:
        return await say(voter, lambda request: line.ask(request, LIMIT_S))

    return question
