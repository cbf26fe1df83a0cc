"""A node runs its processes: order, watches, crashes, and what comes before it serves."""

from typing import Any

import pytest

from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.messages import Term
from reference_impl.metadata.tables import Queue
from reference_impl.node.happenings import Saved
from reference_impl.node.wire import Downed, Mail, Watching
from reference_impl.pid import Pid
from reference_impl.process import (
    CRASH,
    NO_PROCESS,
    NORMAL,
    Arm,
    Down,
    Effect,
    Exit,
    Send,
    Timeout,
    Watch,
)
from reference_impl.protocol.queues import CancelSync, Synchronise
from tests.reference_impl.node.stage import Stage

ELSEWHERE = Pid("ref2", 1, 9)


class Scripted:
    """A process that answers each event as its script says, and remembers what it heard."""

    def __init__(self, *script: list[Effect] | Exception) -> None:
        self.heard: list[Any] = []
        self._script = list(script)

    def handle(self, event: Any) -> list[Effect]:
        self.heard.append(event)
        answer = self._script.pop(0) if self._script else []
        if isinstance(answer, Exception):
            raise answer
        return answer


class Playing(Stage):
    """With processes that a test scripts."""

    def put(self, process: Scripted) -> Pid:
        pid = self.node.new_pid()
        self.node._processes.start(pid, process)
        return pid

    def mail(self, to: Pid, body: Any = None) -> None:
        self.node.heard("ref2", Mail(to, body or Synchronise()))
        self.node.run()


@pytest.fixture
def stage() -> Playing:
    stage = Playing()
    stage.begin()
    return stage


def test_messages_of_one_process_to_another_keep_their_order(stage: Playing) -> None:
    reader = Scripted()
    at = stage.put(reader)
    stage.mail(stage.put(Scripted([Send(at, number) for number in range(10)])))
    assert reader.heard == list(range(10))


def test_a_crashed_process_ends_alone_and_its_watcher_is_notified(stage: Playing) -> None:
    broken = stage.put(Scripted(RuntimeError("a bug")))
    watcher, bystander = Scripted([Watch(broken)]), Scripted()
    stage.mail(stage.put(watcher))
    other = stage.put(bystander)
    stage.mail(broken)
    stage.mail(other)
    assert watcher.heard[-1] == Down(broken, CRASH)
    assert bystander.heard == [Synchronise()]
    assert any("a bug" in line for line in stage.out.lines)


def test_a_process_is_reported_down_after_its_last_message(stage: Playing) -> None:
    ending = stage.node.new_pid()
    watcher = Scripted([Watch(ending)])
    at = stage.put(watcher)
    stage.node._processes.start(ending, Scripted([Send(at, "last word"), Exit(NORMAL)]))
    stage.mail(at)
    stage.mail(ending)
    assert watcher.heard == [Synchronise(), "last word", Down(ending, NORMAL)]


def test_watching_a_missing_process_gives_down_at_once(stage: Playing) -> None:
    gone = stage.node.new_pid()
    watcher = Scripted([Watch(gone)])
    stage.mail(stage.put(watcher))
    assert watcher.heard[-1] == Down(gone, NO_PROCESS)


def test_a_watcher_on_another_node_gets_down_over_the_link(stage: Playing) -> None:
    ending = stage.put(Scripted([Exit(NORMAL)]))
    stage.node.heard("ref2", Watching(ELSEWHERE, ending))
    stage.mail(ending)
    assert ("ref2", Downed(ELSEWHERE, ending, NORMAL)) in stage.out.sent
    stage.node.heard("ref2", Watching(ELSEWHERE, ending))
    assert stage.out.sent[-1] == ("ref2", Downed(ELSEWHERE, ending, NO_PROCESS))


def test_a_timer_of_no_length_fires_once_after_pending_events(stage: Playing) -> None:
    flush = Arm("flush", 0)
    process = Scripted([flush], [flush])
    pid = stage.put(process)
    stage.node.heard("ref2", Mail(pid, Synchronise()))
    stage.node.heard("ref2", Mail(pid, CancelSync()))
    stage.node.run()
    assert process.heard == [Synchronise(), CancelSync(), Timeout("flush")]
    assert (pid, "flush") not in stage.out.timers


def test_mail_before_the_node_serves_waits_for_its_processes() -> None:
    stage = Playing()
    reader = Scripted()
    pid = stage.put(reader)
    stage.mail(pid)
    assert reader.heard == []
    stage.begin()
    assert reader.heard == [Synchronise()]


def test_timers_of_ended_processes_never_fire(stage: Playing) -> None:
    process = Scripted([Arm("flush", 0), Exit(NORMAL)])
    stage.mail(stage.put(process))
    assert process.heard == [Synchronise()]


def test_clients_are_accepted_once_the_nodes_stored_queues_are_back() -> None:
    of_last_boot = Pid("ref1", 1, 7)
    tables = predeclared()
    tables.queues["q"] = Queue("q", True, False, None, {}, "ref1", of_last_boot, (), (), ())
    stage = Playing(Saved(tables, Term(1, "ref1"), ()), boot=2)
    masters: list[Pid | None] = []
    stage.out.open = lambda: masters.append(stage.node.tables.queues["q"].master)
    stage.begin()
    stage.node.fired(None, "grace")
    stage.node.run()
    (master,) = masters
    assert master is not None
    assert stage.node.alive(master), "no peer learns that its home is down"
