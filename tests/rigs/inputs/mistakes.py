"""What is said of bad input, as facts: where, what was probably meant, what may stand there.

How a line of it is worded is the matter of tests/harness/plan/test_problems.py.
"""

from typing import NamedTuple

from harness.plan.problems import PlanError, Problem


class Mistake(NamedTuple):
    place: str
    meant: str = ""
    choices: tuple[str, ...] = ()


def mistakes(error: PlanError) -> list[Mistake]:
    return [_mistake(one) for one in error.problems]


def _mistake(problem: Problem) -> Mistake:
    return Mistake(problem.place, problem.guess, problem.choices)
