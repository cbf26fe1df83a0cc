"""The exit code is decided in one place: by what was judged, and by nothing that tells it."""

import ast
from pathlib import Path

import pytest

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.expectations import CellResult, Known, Standing
from harness.judging.exits import Exit, Judge, is_failure, of_experiment, of_telling

ROOT = Path(__file__).parents[3]
CELL = ("s", "b", "l", "c")


def verdict(outcome: ClaimOutcome) -> ClaimVerdict:
    return ClaimVerdict("c", outcome, "m", "s", "x")


def decided(
    by: Judge,
    *outcomes: ClaimOutcome,
    standing: Standing = Standing.AS_EXPECTED,
    interrupted: bool = False,
    crashed: bool = False,
    refused: bool = False,
) -> Exit:
    runs = [[verdict(one)] for one in outcomes]
    cells = [CellResult(CELL, standing, (), {})]
    return of_experiment(
        by, runs, cells, interrupted=interrupted, crashed=crashed, refused=refused
    )


def test_with_claims_a_fail_counts_even_if_expected() -> None:
    assert decided(Judge.CLAIMS, ClaimOutcome.PASS, ClaimOutcome.FAIL) is Exit.FAILED
    assert decided(Judge.CLAIMS, ClaimOutcome.PASS, standing=Standing.DIFFERS) is Exit.PASSED


def test_with_expectations_an_expected_fail_passes() -> None:
    assert decided(Judge.EXPECTATIONS, ClaimOutcome.FAIL) is Exit.PASSED
    assert decided(Judge.EXPECTATIONS, ClaimOutcome.PASS, standing=Standing.DIFFERS) is Exit.FAILED


@pytest.mark.parametrize("by", Judge)
def test_an_interrupt_outranks_an_internal_error(by: Judge) -> None:
    assert decided(by, ClaimOutcome.FAIL, crashed=True) is Exit.CRASH
    assert decided(by, ClaimOutcome.FAIL, crashed=True, interrupted=True) is Exit.INTERRUPTED


@pytest.mark.parametrize("by", Judge)
def test_bad_input_outranks_the_verdict_and_no_internal_error(by: Judge) -> None:
    assert decided(by, ClaimOutcome.FAIL, refused=True) is Exit.BAD_INPUT
    assert decided(by, ClaimOutcome.PASS, refused=True) is Exit.BAD_INPUT
    assert decided(by, ClaimOutcome.FAIL, refused=True, crashed=True) is Exit.CRASH


@pytest.mark.parametrize("code", Exit)
def test_failed_report_is_an_internal_error_and_keeps_the_verdict(
    code: Exit,
) -> None:
    assert of_telling(code, crashed=False, unwritten=False) is code
    assert of_telling(code, crashed=True, unwritten=True) is Exit.CRASH
    refused = of_telling(code, crashed=False, unwritten=True)
    assert refused is (Exit.NOT_DECIDED if code is Exit.PASSED else code)


@pytest.mark.parametrize(
    ("outcome", "known", "by_claims", "by_expectations"),
    [
        (ClaimOutcome.FAIL, None, True, True),
        (ClaimOutcome.FAIL, Known((ClaimOutcome.FAIL,)), True, False),
        (ClaimOutcome.PASS, Known((ClaimOutcome.FAIL,)), False, True),
        (ClaimOutcome.INCONCLUSIVE, Known((ClaimOutcome.FAIL,)), False, False),
        (ClaimOutcome.PASS, None, False, False),
    ],
)
def test_a_verdict_alone_is_a_failure_by_what_judges(
    outcome: ClaimOutcome, known: Known | None, by_claims: bool, by_expectations: bool
) -> None:
    assert is_failure(Judge.CLAIMS, verdict(outcome), known) is by_claims
    assert is_failure(Judge.EXPECTATIONS, verdict(outcome), known) is by_expectations


def test_reporting_code_chooses_no_exit_code() -> None:
    """It compares codes, or puts them into words; it never returns one."""
    choosing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "harness" / "report").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Return) and _is_code(node.value)
    ]
    assert choosing == []


def _is_code(value: ast.expr | None) -> bool:
    """`Exit.X`, or a call of what decides, or one of both by a condition."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            return _is_code(one) or _is_code(other)
        case ast.Attribute(value=ast.Name(id="Exit")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id="exits"))):
            return True
    return False
