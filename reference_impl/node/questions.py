"""Requests of the management API that wait for other processes' answers.

1. Every awaited answer has a number of its own, used once.
2. A process that is gone has no word: GONE. One that is silent has none by the deadline: it is
   missing among the answers.
3. A question is finished once: when every word is there, or at its deadline.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reference_impl.pid import Pid
from reference_impl.process import Arm, Disarm, Effect, Send, Transact, Watch

GONE: Final = object()

Finish = Callable[[dict[Pid, Any]], list[Effect]]  # answers by who was asked


@dataclass(slots=True, eq=False)
class _Question:
    finish: Finish
    awaited: dict[int, Pid] = field(default_factory=dict)  # number -> who was asked
    answers: dict[Pid, Any] = field(default_factory=dict)


class Questions:
    """The questions of one process."""

    def __init__(self, pid: Pid) -> None:
        self._pid = pid
        self._number = 0
        self._open: dict[str, _Question] = {}  # by the name of its timer

    def ask(
        self, messages: Mapping[Pid, Callable[[int], Any]], limit_ms: int, finish: Finish
    ) -> list[Effect]:
        """One message to each, made from its number; the answer repeats the number."""
        question, effects = _Question(finish), list[Effect]()
        for pid, message in messages.items():
            self._number += 1
            question.awaited[self._number] = pid
            effects += [Watch(pid), Send(pid, message(self._number))]
        return self._opened(question, effects, limit_ms)

    def transact(
        self, command: Any, limit_ms: int, finish: Callable[[Any], list[Effect]]
    ) -> list[Effect]:
        """`finish` gets the command's result, None at the deadline."""
        self._number += 1
        question = _Question(lambda answers: finish(answers.get(self._pid)))
        question.awaited[self._number] = self._pid
        return self._opened(question, [Transact(self._number, command)], limit_ms)

    def answered(self, number: int, answer: Any) -> list[Effect]:
        for name, question in list(self._open.items()):
            if number in question.awaited:
                question.answers[question.awaited.pop(number)] = answer
                return self._finished(name, question)
        return []

    def gone(self, pid: Pid) -> list[Effect]:
        effects: list[Effect] = []
        for name, question in list(self._open.items()):
            for number, target in list(question.awaited.items()):
                if target == pid:
                    del question.awaited[number]
                    question.answers[pid] = GONE
                    effects += self._finished(name, question)
        return effects

    def timed_out(self, name: str) -> list[Effect]:
        question = self._open.pop(name, None)
        return [] if question is None else question.finish(question.answers)

    def _opened(self, question: _Question, effects: list[Effect], limit_ms: int) -> list[Effect]:
        if not question.awaited:
            return question.finish({})
        name = f"question {self._number}"
        self._open[name] = question
        return [*effects, Arm(name, limit_ms)]

    def _finished(self, name: str, question: _Question) -> list[Effect]:
        if question.awaited:
            return []
        del self._open[name]
        return [Disarm(name), *question.finish(question.answers)]
