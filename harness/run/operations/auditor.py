"""The auditor starts, once, brokers that did not recover by themselves, before places are read.

1. It comes after every measurement: the load is over, and the queues are drained.
2. It waits for a silent broker, which may be recovering. It starts a process only if the broker is
   verified dead (port.Cluster.dead_broker): ending a live one might destroy what it holds.
3. A broker that a fault or an operation left down stays down, and so do those that wait for it.
4. All are started concurrently: brokers know which of them must run first.
5. Each start is recorded before it is done; so is each broker that was left down, and why.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from faults.core.model import FaultError
from faults.core.places import host_of, overlap
from faults.performing import perform_all
from harness.cluster.polling import until
from harness.cluster.port import DeadBroker, DeployError, Roles
from harness.run.stage import Stage
from harness.run_folder.manifest import AuditStart
from spark_analysis.schema.facts import QueueEnd

BACK_LIMIT_S = 60.0  # so long a node that paused, or restarts, may take to come by itself
ANSWER_LIMIT_S = 120.0
LISTED_LIMIT_S = 30.0
QUEUES_LIMIT_S = 30.0
_ANSWERS = "it answers"
_LIVES = "its process runs, and does not answer: to end it might destroy what it holds"


class Auditor:
    """One run's. `records` always says what is known; `save` is called when that has changed."""

    def __init__(self, stage: Stage, save: Callable[[], None]) -> None:
        self._stage = stage
        self._save = save
        self.records: list[AuditStart] = []
        self.title = ""  # of what is on its way

    @property
    def started(self) -> dict[str, int]:
        """The hosts of what was started and answered -> when that was issued; run time in ns."""
        hosts: dict[str, int] = {}
        for one in self.records:
            if one.issued_ns is not None and one.answered_ns is not None:
                hosts.setdefault(host_of(one.place), one.issued_ns)
        return hosts

    @property
    def altered(self) -> str:
        """Why the cluster may not be what it was; "" where nothing was started."""
        begun = [one.place for one in self.records if one.issued_ns is not None]
        return f"{', '.join(begun)} started for the audit" if begun else ""

    async def start_once(self, held: Mapping[str, str], joined: Sequence[str] = ()) -> None:
        """`held`: the places that are to stay down, and why; `joined`: hosts that the layout does
        not have, and the cluster has by now."""
        silent = await self._silent((*self._stage.servers.places, *joined))
        kept = {one: why for one in silent if (why := _why_held(one, held))}
        self.records = [AuditStart(one, left=why) for one, why in kept.items()]
        absent = await self._stay_away([one for one in silent if one not in kept])
        found = [(one, await self._look(one, tuple(kept))) for one in absent]
        starts = []
        for one, seen in found:
            if isinstance(seen, DeadBroker):
                starts.append((AuditStart(one, found=seen.why), seen))
            else:
                self.records.append(AuditStart(one, left=seen))
        if starts:
            await self._start_all(starts)
        elif self.records:
            self._save()

    def note_read(self, drained: Sequence[QueueEnd], audited: Sequence[QueueEnd]) -> None:
        """Note with the start which queues the audit read that could not be drained."""
        answered = [one for one in self.records if one.answered_ns is not None]
        for before, after in zip(drained, audited, strict=True):
            if after.drained and not before.drained and answered:
                why = f"{after.queue} was read then, and could not be drained before"
                answered[0].detail += f"; {why} ({before.undrained_reason})"

    # --- who does not answer, and why ------------------------------------------------------------

    async def _silent(self, places: Sequence[str]) -> tuple[str, ...]:
        answers = await asyncio.gather(*map(self._answers, places))
        return tuple(
            one for one, is_answered in zip(places, answers, strict=True) if not is_answered
        )

    async def _answers(self, where: str) -> bool:
        try:
            return (await self._stage.cluster.witness.greets(where)).answered
        except FaultError:
            return False

    async def _stay_away(self, places: Sequence[str]) -> tuple[str, ...]:
        """Those that do not answer, when none of them may still be on its way."""

        async def look() -> dict[str, bool]:
            silent = await self._silent(places)
            coming = await asyncio.gather(*map(self._may_come, silent))
            return dict(zip(silent, coming, strict=True))

        if not places:
            return ()
        self.title = f"wait for {', '.join(places)}, {BACK_LIMIT_S:g} s at most"
        found = await until(look, lambda found: not any(found.values()), BACK_LIMIT_S)
        self.title = ""
        return tuple(found)

    async def _may_come(self, where: str) -> bool:
        """Return whether the end of its process was not seen."""
        try:
            state = await self._stage.cluster.witness.process(where)
        except FaultError:
            return True
        return state.running or state.exit_code is None

    async def _look(self, where: str, kept: Sequence[str]) -> DeadBroker | str:
        """Return how to start it, or why it is not started."""
        try:
            found = await self._stage.cluster.dead_broker(where)
        except (FaultError, DeployError) as failure:
            return f"the state of its broker is unknown: {failure}"
        if found is None:
            return _LIVES
        if not found.start:
            return found.why
        if found.waits and kept:
            return f"{found.why}: it may be waiting for {', '.join(kept)}, which is to stay down"
        return found

    # --- the start -------------------------------------------------------------------------------

    async def _start_all(self, starts: Sequence[tuple[AuditStart, DeadBroker]]) -> None:
        records = [record for record, _ in starts]
        places = ", ".join(one.place for one in records)
        self.title = f"start {places} for the audit, {ANSWER_LIMIT_S:g} s at most"
        for record in records:
            record.issued_ns = self._now_ns()
        self.records += records
        self._save()
        await asyncio.gather(*(self._start(record, found) for record, found in starts))
        there = [one for one in records if one.answered_ns is not None]
        if there:
            await self._come_in(there)
        self.title = ""
        self._save()

    async def _start(self, record: AuditStart, found: DeadBroker) -> None:
        try:
            await perform_all(self._stage.executor, found.start)
        except FaultError as failure:
            record.detail = f"it could not be started: {failure}"
            return
        answer = await until(lambda: self._outcome(record.place), bool, ANSWER_LIMIT_S)
        if answer == _ANSWERS:
            record.answered_ns = self._now_ns()
        else:
            record.detail = answer or f"it had not answered after {ANSWER_LIMIT_S:g} s"

    async def _outcome(self, where: str) -> str:
        """_ANSWERS, or why it never will; "" where it may still."""
        if await self._answers(where):
            return _ANSWERS
        try:
            state = await self._stage.cluster.witness.process(where)
        except FaultError:
            return ""
        if state.running or state.exit_code is None:
            return ""
        return f"its process ended again, with exit code {state.exit_code}"

    async def _come_in(self, records: Sequence[AuditStart]) -> None:
        """Waits until the brokers list them, and every queue has a master: what each is by then is
        told as it is."""
        await until(lambda: self._all_listed(records), bool, LISTED_LIMIT_S)
        roles: dict[str, Roles] = {}
        with suppress(DeployError, TimeoutError):
            roles = await until(self._stage.roles, _led, QUEUES_LIMIT_S)
        for one in records:
            role = self._stage.describe(host_of(one.place), roles)
            one.detail = role if roles else "the brokers do not report which hosts have the queues"

    async def _all_listed(self, records: Sequence[AuditStart]) -> bool:
        try:
            answers = [await self._stage.cluster.witness.serves(one.place) for one in records]
        except FaultError:
            return False
        return all(one.answered for one in answers)

    def _now_ns(self) -> int:
        return time.monotonic_ns() - self._stage.origin_ns


def two_since(hosts: Sequence[str], started: Mapping[str, int], origins_ns: Sequence[int]) -> int:
    """Return since when two competing leaders may have run.

    It was not observed, so this is the earliest time: the first fault, or the moment when the
    auditor had started all but one of them.
    """
    if len([host for host in hosts if host not in started]) < 2:
        return min(started[host] for host in hosts if host in started)
    return min(origins_ns, default=0)


def _why_held(where: str, held: Mapping[str, str]) -> str:
    return next((why for one, why in held.items() if overlap(where, one)), "")


def _led(roles: Mapping[str, Roles]) -> bool:
    return all(one.master is not None for one in roles.values())
