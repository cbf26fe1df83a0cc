"""Operations, live: resolve late, carry out, wait until they took effect, record the answers.

1. The journal has a process before an operation stops it, and until it is started again: so `heal`
   starts it, and so does `mend` when the run is over.
2. If an operation fails, its reason is recorded and the run goes on. Claims about it are unknown
   then (the manifest says so).
3. An operator's report is verified afterwards, if a broker can be asked (afterwards.py).
4. Each wait has a limit. The wait for a process ends when the process has ended.
"""

import asyncio
import time
from collections.abc import Coroutine
from contextlib import AsyncExitStack, suppress
from typing import Any

from faults.core.actions import ENDING_S, Kill, Start, Stop
from faults.core.model import Armed, FaultError
from faults.core.places import joined
from faults.performing import perform_all
from harness.cluster.orders import (
    AddNode,
    CancelSync,
    DeletePolicy,
    ForceBoot,
    ForgetNode,
    Order,
    ResetNode,
    SetPolicy,
    Synchronise,
    WipeNode,
)
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Roles
from harness.plan import operations
from harness.plan.files.targets import Target, TargetForm
from harness.plan.model import OperationPlan, OperationStep
from harness.plan.operation_options import (
    CLEAN,
    KILL,
    NO,
    ForgetOptions,
    PolicyNameOptions,
    PolicyOptions,
    StartOptions,
    StopOptions,
    ThroughOptions,
    WaitOptions,
)
from harness.run.core.resolving import NoSuchTarget, resolve_reference
from harness.run.core.stopping import Stopping
from harness.run.operations import afterwards
from harness.run.operations.promoting import Promoting
from harness.run.stage import Stage
from harness.run_folder.operations import OperationRecord

STOP_LIMIT_S = 60.0
SERVE_LIMIT_S = 120.0
CLEAN_LIMIT_S = 180.0
TAKEOVER_LIMIT_S = 15.0
SYNCHRONISED_LIMIT_S = 120.0
_TROUBLE = (NoSuchTarget, FaultError, DeployError, TimeoutError)
_BY_ROLE = (TargetForm.MASTER, TargetForm.MIRROR, TargetForm.UNINVOLVED)


class Operating:
    """The operations of one run. `records` always says what is known up to now."""

    def __init__(self, stage: Stage, steps: tuple[OperationStep, ...]) -> None:
        layout = stage.plan.layout
        self._stage = stage
        self._steps = steps
        self._stopping = Stopping(stage.hosts, tuple(host.name for host in layout.spares))
        self._armed: dict[str, Armed] = {}  # host -> what stopped it
        self._groups = 0
        self.records = {
            step.number: OperationRecord(
                step.number, step.operation.kind.name, step.operation.target.word
            )
            for step in steps
        }
        self.title = ""  # of the one that is on its way

    async def perform(self, step: OperationStep) -> None:
        """One operation, to its end or its failure."""
        plan, record = step.operation, self.records[step.number]
        began_ns = time.monotonic_ns()
        record.began_ns = self._stage.run_ns(began_ns)
        record.detail, self.title = "broken off", f"{plan.kind} {plan.target}".strip()
        try:
            record.detail = await self._perform(step, record)
            record.ok = True
        except _TROUBLE as failure:
            record.detail = (
                str(failure) or "the brokers did not report which hosts have the queues"
            )
        finally:
            self.title = ""
            returned_ns = time.monotonic_ns()
            record.returned_ns = self._stage.run_ns(returned_ns)
            self._stage.record.operation(record)

    @property
    def altered(self) -> str:
        """Why the cluster may not be what its layout says; "" where it is."""
        every = [(step.operation.kind, self.records[step.number]) for step in self._steps]
        begun = [(kind, record) for kind, record in every if record.began_ns is not None]
        changed = [kind.name for kind, record in begun if kind.alters or not record.ok]
        changed += [f"{host} was left stopped" for host in self._armed]
        return ", ".join(dict.fromkeys(changed))

    @property
    def held(self) -> dict[str, str]:
        """The hosts that are down by an operation, and by which."""
        return {
            host: f"operation {armed.window} ({armed.kind}) left it down"
            for host, armed in self._armed.items()
        }

    @property
    def joined(self) -> tuple[str, ...]:
        """The spare hosts that are members by now."""
        spares = [host.name for host in self._stage.plan.layout.spares]
        return tuple(host for host in spares if host not in self._stopping.spares)

    async def mend(self) -> None:
        """Start what operations left stopped. A host that cannot be started is left to heal. Raise
        another failure when each host was tried."""
        async with AsyncExitStack() as steps:
            for host, armed in reversed(self._armed.items()):  # the last one comes first
                steps.push_async_callback(self._start_again, host, armed)

    async def _start_again(self, host: str, armed: Armed) -> None:
        with suppress(FaultError, DeployError):
            await perform_all(self._stage.executor, armed.undo)
            self._stage.journal.undone(armed)
            del self._armed[host]

    async def facts(self) -> dict[str, Any]:
        """What claims ask of what the operations left; None is unknown."""
        held: dict[str, Roles] | None = None
        with suppress(DeployError, TimeoutError):
            held = await self._stage.roles()
        roles = list(held.values()) if held is not None else []
        return self._stopping.facts() | {
            "queues_have_masters": all(one.master is not None for one in roles) if roles else None,
            "mirrors_after_operations": min((len(one.mirrors) for one in roles), default=None),
        }

    # --- one operation ---------------------------------------------------------------------------

    async def _perform(self, step: OperationStep, record: OperationRecord) -> str:
        plan = step.operation
        target = plan.target
        if target.queue and target.form not in _BY_ROLE:
            record.resolved = self._stage.queues[target.queue]
            if plan.kind == operations.PROMOTE:
                return await Promoting(self._stage, step).perform(record.resolved)
            return await self._of_queue(plan, record.resolved)
        if not plan.kind.targets:
            order = _policy_order(plan)
            record.resolved = order.name
            answer = await self._carry_out(order)
            await afterwards.of_policy(self._stage.cluster.broker, order)
            return answer
        hosts = await self._hosts(step, target)
        record.resolved = joined(hosts)
        if plan.kind.stops or plan.kind.starts:
            return await self._of_processes(step, hosts)
        return "; ".join([await self._of_node(plan, host) for host in hosts])

    async def _hosts(self, step: OperationStep, target: Target) -> tuple[str, ...]:
        plan, stage = step.operation, self._stage
        if target.fault:
            known = stage.hosts_of.get(step.refers_to, "")
            host = resolve_reference(target, known, stage.hosts)
            target = Target(host, TargetForm.HOST, host=host)
        roles = await self._roles_of_living() if target.form in _BY_ROLE else {}
        return self._stopping.meant(plan.kind, target, roles)

    async def _roles_of_living(self) -> dict[str, Roles]:
        """Who holds what, when a takeover from what was stopped just now is over."""

        def settled(roles: dict[str, Roles]) -> bool:
            return not any(one.master in self._stopping.down for one in roles.values())

        return await until(self._stage.roles, settled, TAKEOVER_LIMIT_S)

    async def _of_queue(self, plan: OperationPlan, queue: str) -> str:
        if plan.kind == operations.CANCEL_SYNC:
            return _own_word(plan, await self._carry_out(CancelSync(queue)))
        assert plan.kind == operations.SYNCHRONISE, plan.kind
        answer = await self._carry_out(Synchronise(queue))
        options = WaitOptions.of(plan)
        if options.waits == NO:
            return answer
        roles = await until(lambda: self._roles(queue), _synchronised, SYNCHRONISED_LIMIT_S)
        if not _synchronised(roles):
            full = set(roles.synchronised or ())
            behind = ", ".join(set(roles.mirrors) - full) or "it has no mirror"
            raise DeployError(
                f"{queue} was not synchronised within {SYNCHRONISED_LIMIT_S:g} s: {behind}"
            )
        await self._clean(options)
        return f"{answer}; synchronised on {', '.join(roles.synchronised or ())}"

    async def _of_node(self, plan: OperationPlan, host: str) -> str:
        """Carry out an order to a broker about one node."""
        stopping = self._stopping
        match plan.kind:
            case operations.WIPE_NODE:
                answer = _own_word(plan, await self._carry_out(WipeNode(host)))
                if host in stopping.stopped:  # a lost disk may be lost again
                    stopping.wipe(host)
            case operations.FORCE_BOOT:
                answer = _own_word(plan, await self._carry_out(ForceBoot(host)))
            case operations.RESET_NODE:
                answer = await self._reset(host)
            case operations.ADD_NODE:
                add = AddNode(host, await self._through(plan, host))
                answer = await self._carry_out(add)
                await afterwards.of_members(self._stage.cluster.broker, add)
                stopping.join(host)
            case _:
                assert plan.kind == operations.FORGET_NODE, plan.kind
                answer = await self._forget(plan, host)
                stopping.forget(ForgetOptions.of(plan).offline)
        return answer

    async def _reset(self, host: str) -> str:
        before: dict[str, Roles] = {}
        with suppress(DeployError, TimeoutError):
            before = await self._stage.roles()
        answer = await self._carry_out(ResetNode(host))
        if not afterwards.confirms_reset(host, before):
            why = "no queue is known that it held, but as the youngest mirror"
            return afterwards.own_word(answer, why)
        await afterwards.of_reset(host, before, self._stage.roles)
        return answer

    async def _forget(self, plan: OperationPlan, host: str) -> str:
        offline = ForgetOptions.of(plan).offline
        forget = ForgetNode(host, await self._through(plan, host, offline), offline)
        answer = await self._carry_out(forget)
        if offline:
            return afterwards.own_word(answer, f"{forget.through} is down itself")
        await afterwards.of_members(self._stage.cluster.broker, forget)
        return answer

    async def _through(self, plan: OperationPlan, host: str, offline: bool = False) -> str:
        """Return the host that gets the order: the scenario's, else the first possible one."""
        through, stopping = ThroughOptions.of(plan).through, self._stopping
        if through is not None:
            by_name = through.form is TargetForm.HOST
            return through.host if by_name else stopping.stopped_host(through)
        if offline:
            found = [one for one in reversed(stopping.stopped) if one != host]
        else:
            up = [one for one in stopping.up if one != host]
            found = [one for one in up if (await self._stage.cluster.witness.greets(one)).answered]
        if not found:
            state = "down" if offline else "up and answers"
            raise NoSuchTarget(f"{plan.kind} of {host}: no other host is {state}")
        return found[0]

    # --- processes -------------------------------------------------------------------------------

    async def _of_processes(self, step: OperationStep, hosts: tuple[str, ...]) -> str:
        kind, options = step.operation.kind, StartOptions.of(step.operation)
        steps_done, restarts = [], kind.stops and kind.starts
        for group in self._stopping.ordered(hosts, options.order):
            self._groups += 1
            began_ns = time.monotonic_ns()
            if kind.stops:
                await _concurrently(*(self._stop(step, host, self._groups) for host in group))
            if kind.starts:
                await _concurrently(*(self._start(host, options) for host in group))
            if restarts:  # the next one goes when this one is well again
                await self._clean(options)
            steps_done.append(
                f"{', '.join(group)} in {(time.monotonic_ns() - began_ns) / 1e9:.1f} s"
            )
        if not restarts:  # before the last one is there nothing can be clean
            await self._clean(options)
        return "; ".join(steps_done)

    async def _stop(self, step: OperationStep, host: str, group: int) -> None:
        stage, plan, options = self._stage, step.operation, StopOptions.of(step.operation)
        armed = self._armed[host] = Armed(
            window=step.number,
            kind=plan.kind.name,
            target=plan.target.word,
            places=(host,),
            role="",
            mechanism=plan.kind.offers.get(stage.plan.deployment, ""),
            actions=(Kill(host) if options.how == KILL else Stop(host),),
            undo=(Start(host, ENDING_S),),
            mark="",
            hosts=stage.hosts,
        )
        stage.journal.armed(armed)
        await perform_all(stage.executor, armed.actions)
        self._stopping.stop(host, group)
        if options.waits == NO and not plan.kind.starts:
            return
        witness = stage.cluster.witness
        state = await until(
            lambda: witness.process(host), lambda found: not found.running, STOP_LIMIT_S
        )
        if state.running:
            raise DeployError(f"{host}: its process had not ended after {STOP_LIMIT_S:g} s")

    async def _start(self, host: str, options: StartOptions) -> None:
        stage = self._stage
        await self._see_who_waits(host)
        began_ns = time.monotonic_ns()
        await stage.executor.perform(Start(host, ENDING_S))
        self._stopping.start(host, began_ns)
        armed = self._armed.pop(host, None)
        if armed is not None:
            stage.journal.undone(armed)
        if options.waits == NO:
            return
        serves = await until(lambda: self._serves(host), lambda found: found != "", SERVE_LIMIT_S)
        if serves != _SERVES:
            raise DeployError(f"{host}: {serves or f'no answer within {SERVE_LIMIT_S:g} s'}")

    async def _see_who_waits(self, host: str) -> None:
        """Just before `host` is started: whether who was started without it is there still."""
        waiting = self._stopping.waiting(host)
        if waiting:
            with suppress(FaultError, DeployError, TimeoutError):  # it is started all the same
                state = await self._stage.cluster.witness.process(waiting)
                self._stopping.waited(not state.running)

    async def _serves(self, host: str) -> str:
        """_SERVES, or why it never will; "" where it may still."""
        witness = self._stage.cluster.witness
        state = await witness.process(host)
        if not state.running:
            return f"its process ended with exit code {state.exit_code} before it served anybody"
        return _SERVES if (await witness.greets(host)).answered else ""

    async def _clean(self, options: WaitOptions) -> None:
        if options.waits != CLEAN:
            return
        health = await self._stage.cluster.health(CLEAN_LIMIT_S)
        if not health.clean:
            doubts = "; ".join(health.doubts)
            raise DeployError(f"not clean after {CLEAN_LIMIT_S:g} s: {doubts}")

    async def _carry_out(self, order: Order) -> str:
        return await self._stage.cluster.operator.carry_out(order)

    async def _roles(self, queue: str) -> Roles:
        return await self._stage.cluster.broker.roles(queue)


_SERVES = "it serves"


def _own_word(plan: OperationPlan, answer: str) -> str:
    return afterwards.own_word(answer, afterwards.OWN_WORD[plan.kind.name])


def _policy_order(plan: OperationPlan) -> SetPolicy | DeletePolicy:
    if plan.kind == operations.DELETE_POLICY:
        return DeletePolicy(PolicyNameOptions.of(plan).name)
    assert plan.kind == operations.SET_POLICY, plan.kind
    options = PolicyOptions.of(plan)
    return SetPolicy(options.name, options.pattern, options.definition, options.priority)


def _synchronised(roles: Roles) -> bool:
    """Return whether all mirrors are synchronised; no report counts as no."""
    return bool(roles.mirrors) and set(roles.mirrors) == set(roles.synchronised or ())


async def _concurrently(*work: Coroutine[Any, Any, None]) -> None:
    """Run all concurrently. Raise the first failure when every one has ended."""
    for ended in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
