"""Which of the many mutants are run: those that change what is decided.

1. Of the replacements of one operator only telling ones are run: `a + b` becomes `a - b` and
   `a * b`, but not `a << b`, which dies of the same tests.
2. Left out, because they decide nothing: type annotations, the flags of dataclasses, `strict=` of
   `zip` (it asserts what holds anyway), and the words of errors, assertions and log lines.
"""

import ast
import re
from collections.abc import Iterator

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec, WorkerOutcome, WorkResult

TELLING = {
    "Add": ("Sub", "Mul"),
    "Sub": ("Add", "Mul"),
    "Mul": ("Add", "FloorDiv"),
    "Div": ("Mul",),
    "FloorDiv": ("Mul", "Mod"),
    "Mod": ("FloorDiv",),
    "Pow": ("Mul",),
    "LShift": ("RShift",),
    "BitOr": ("BitAnd", "BitXor"),
    "BitAnd": ("BitOr", "BitXor"),
    "Is": ("IsNot",),
    "IsNot": ("Is",),
    # Its opposite, and the two that differ from it in one of smaller, equal and larger alone.
    "Lt": ("GtE", "LtE", "NotEq"),
    "Gt": ("LtE", "GtE", "NotEq"),
    "LtE": ("Gt", "Lt", "Eq"),
    "GtE": ("Lt", "Gt", "Eq"),
    "Eq": ("NotEq", "LtE", "GtE"),
    "NotEq": ("Eq", "Lt", "Gt"),
}
UNARY = ("Delete_USub", "Delete_Invert", "Delete_Not")

Place = tuple[int, int]  # (line, column), as Cosmic Ray counts them


def leave_out(session: WorkDB) -> None:
    """Marks the mutants that are not run as skipped."""
    silent = {
        path: [*_silent(ast.parse(path.read_text()))]
        for path in {
            mutant.module_path for item in session.work_items for mutant in item.mutations
        }
    }
    for item in session.pending_work_items:
        (mutant,) = item.mutations
        if not _is_telling(mutant) or _is_within(mutant, silent[mutant.module_path]):
            outcome = WorkResult(output="left out", worker_outcome=WorkerOutcome.SKIPPED)
            session.set_result(item.job_id, outcome)


def _is_telling(mutant: MutationSpec) -> bool:
    name = mutant.operator_name.removeprefix("core/")
    if found := re.fullmatch(r"Replace(?:Binary|Comparison)Operator_(\w+)_(\w+)", name):
        return found[2] in TELLING[found[1]]
    if found := re.fullmatch(r"ReplaceUnaryOperator_(\w+)", name):
        return found[1] in UNARY
    return True


def _is_within(mutant: MutationSpec, spans: list[tuple[Place, Place]]) -> bool:
    return any(start <= mutant.start_pos and mutant.end_pos <= end for start, end in spans)


def _silent(module: ast.Module) -> Iterator[tuple[Place, Place]]:
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
            yield _span(node.value)  # the name of a type
    for node in ast.walk(module):
        match node:
            case ast.AnnAssign(annotation=each) | ast.arg(annotation=ast.expr() as each):
                yield _span(each)
            case ast.FunctionDef(returns=ast.expr() as each):
                yield _span(each)
            case ast.ClassDef(decorator_list=flags):
                yield from (
                    _span(each) for flag in flags for each in getattr(flag, "keywords", ())
                )
            case ast.Raise(exc=ast.Call(args=words)):
                yield from map(_span, words)
            case ast.Call(func=ast.Attribute(attr="warning"), args=words):
                yield from map(_span, words)
            case ast.Call(func=ast.Name(id="TypeVar")):
                yield _span(node)
            case ast.keyword(arg="strict"):
                yield _span(node)
            case ast.Assert(msg=ast.expr() as each):
                yield _span(each)


def _span(node: ast.expr | ast.keyword) -> tuple[Place, Place]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
