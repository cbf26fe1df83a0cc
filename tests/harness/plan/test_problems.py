"""How a problem is worded: where, what, what was probably meant, what may stand there."""

import pytest

from harness.plan.problems import PlanError, Problem


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (Problem("a.toml, line 3", "it is wrong"), "a.toml, line 3: it is wrong"),
        (Problem("", "it is wrong"), "it is wrong"),
        (Problem("a", "no", ("x", "y")), "a: no; valid: x | y"),
        (Problem("a", "no", guess="x"), "a: no; did you mean 'x'?"),
        (Problem("a", "no", ("x", "y"), "x"), "a: no; did you mean 'x'?; valid: x | y"),
    ],
)
def test_a_problem_is_one_line_with_its_place_a_guess_and_the_choices(
    problem: Problem, line: str
) -> None:
    assert str(problem) == line


def test_every_problem_of_an_error_has_a_line() -> None:
    assert str(PlanError([Problem("a", "one"), Problem("b", "two")])) == "a: one\nb: two"
