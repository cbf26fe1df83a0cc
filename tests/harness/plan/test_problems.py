"""How a problem is worded: where, what, what was probably meant, what may stand there."""

import pytest

from harness.plan.problems import CHECK_PATH, PlanError, Problem, nearest, unknown, unreadable


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        (Problem("a.toml, line 3", "it is wrong"), "a.toml, line 3: it is wrong"),
        (Problem("", "it is wrong"), "it is wrong"),
        (Problem("a", "no", ("x", "y")), "a: no; valid: x | y"),
        (Problem("a", "no", guess="x"), "a: no; did you mean 'x'?"),
        (Problem("a", "no", ("x", "y"), "x"), "a: no; did you mean 'x'?; valid: x | y"),
        (
            Problem("a", "no", expected="a file", advice="check it"),
            "a: no; expected: a file; what to do: check it",
        ),
    ],
)
def test_problem_is_one_line_with_place_guess_and_choices(problem: Problem, line: str) -> None:
    assert str(problem) == line


def test_every_problem_of_an_error_has_a_line() -> None:
    assert str(PlanError([Problem("a", "one"), Problem("b", "two")])) == "a: one\nb: two"


def test_choices_and_advice_are_listed_once_in_an_error() -> None:
    four = ("a", "b", "c", "d")
    first, second = (Problem(place, "no", four, advice="see the list") for place in "xy")
    assert str(PlanError([first, second])) == (
        "x: no; valid: a | b | c | d; what to do: see the list\ny: no; valid: as for x"
    )
    other = Problem("z", "no", four[:3])
    assert str(PlanError([other, other])).count("a | b | c") == 2, "short ones are repeated"


def test_only_a_missing_file_is_a_path_to_check() -> None:
    gone = str(unreadable("a", "No such file or directory", "a suite", "copy one"))
    assert gone == (
        "a: cannot be read: No such file or directory; expected: a suite; "
        f"what to do: {CHECK_PATH}; copy one"
    )
    damaged = str(unreadable("a", "it is not UTF-8 text (byte 0)", "a suite", "copy one"))
    assert damaged == "a: cannot be read: it is not UTF-8 text (byte 0); expected: a suite"


def test_of_many_choices_only_near_ones_are_shown() -> None:
    names = [f"scenario-{number}" for number in range(50)] + ["master-crash"]
    text = str(unknown("SCENARIO", "scenario", "mastr-crash", names))
    assert "did you mean 'master-crash'?; valid: master-crash | and 50 more" in text
    assert text.endswith("what to do: `mqproof list scenarios` describes each")
    assert "valid: scenario-0 | " in str(unknown("SCENARIO", "scenario", "xyzzy", names))


def test_choices_without_a_list_command_are_shown_whole() -> None:
    names = [f"word-{number}" for number in range(50)]
    assert "word-49" in str(unknown("a", "word", "wrd", names))


def test_the_list_command_is_named_once() -> None:
    names = [f"scenario-{number}" for number in range(50)]
    wrong = [unknown("SCENARIO", "scenario", word, names) for word in ("one", "two")]
    assert str(PlanError(wrong)).count("`mqproof list scenarios`") == 1


@pytest.mark.parametrize(
    ("word", "choices", "guess"),
    [
        ("publishers_enter", ("publishers", "publisher_endpoint"), "publisher_endpoint"),
        ("consumers_enter", ("consumers", "consumer_endpoint"), "consumer_endpoint"),
        ("publishers_enter", ("publishers",), "publishers"),  # another table
    ],
)
def test_a_renamed_key_is_known_by_its_new_name(
    word: str, choices: tuple[str, ...], guess: str
) -> None:
    assert nearest(word, choices) == guess
