"""The mutants of a module: those of Cosmic Ray's, and of ours, that change what is decided.

1. Of the replacements of one operator only telling ones are made: `a + b` becomes `a - b` and
   `a * b`, but not `a << b`, which dies of the same tests.
2. None is made of what decides nothing: type annotations, the flags of dataclasses, `strict=` of
   `zip` (it asserts what holds anyway), the words of errors, assertions and log lines, and whole
   sentences: they are for people.
3. They come in the same order whenever the code is the same.
"""

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cosmic_ray.plugins
import operators
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from parso.tree import NodeOrLeaf

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


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module."""

    path: str
    operator: str
    occurrence: int
    line: int
    column: int

    def code(self) -> str:
        """The module as the mutant reads."""
        if self == unchanged(self.path):
            return Path(self.path).read_text()
        operator = cosmic_ray.plugins.get_operator(self.operator)()
        code = mutate_code(Path(self.path).read_text(), operator, self.occurrence)
        assert code is not None, self
        return str(code)


def unchanged(path: str) -> Mutant:
    """None at all: to see that tests pass where a mutant would be tried."""
    return Mutant(path, "", 0, 0, 0)


def mutants(modules: Iterable[str], without: Collection[str] = ()) -> list[Mutant]:
    """All of these modules and packages."""
    operators.register()
    paths = [path for module in modules for path in _files(Path(module))]
    return [mutant for path in paths if str(path) not in without for mutant in _of_file(path)]


def _files(module: Path) -> list[Path]:
    return sorted(module.rglob("*.py")) if module.is_dir() else [module]


def _of_file(path: Path) -> Iterator[Mutant]:
    nodes = [*ast_nodes(get_ast_from_path(path))]
    silent = [*_silent(ast.parse(path.read_text()))]
    for name in filter(_is_telling, cosmic_ray.plugins.operator_names()):
        operator = cosmic_ray.plugins.get_operator(name)
        if operator.arguments():
            continue
        changed = operator()
        places = ((node, *place) for node in nodes for place in changed.mutation_positions(node))
        for occurrence, (node, start, end) in enumerate(places):
            within = any(first <= start and end <= last for first, last in silent)
            if not within and not _is_sentence(node):
                yield Mutant(str(path), name, occurrence, *start)


def _is_sentence(node: NodeOrLeaf) -> bool:
    return node.type == "string" and " " in node.value


def _is_telling(operator: str) -> bool:
    name = operator.removeprefix("core/")
    if found := re.fullmatch(r"Replace(?:Binary|Comparison)Operator_(\w+)_(\w+)", name):
        return found[2] in TELLING.get(found[1], ())
    if found := re.fullmatch(r"ReplaceUnaryOperator_(\w+)", name):
        return found[1] in UNARY
    return True


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
