"""Names and texts use the field's terms. The limits only fall: lower one after you removed some.

CONTRIBUTING.md says which words to avoid, and docs/glossary.md which terms to use.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRODUCT = ("harness", "faults", "reference_impl", "spark_analysis")
WORDS = re.compile(
    r"\b(nobody|whoever|(?:is|are|was|were) told|hangs? on|of which|by whom|anew|once more"
    r"|what is (?:left|missing|due|there))\b",
    re.I,
)
IN_NAMES = re.compile(r"(?:^|_)((?:un)?told|tell|(?:un)?asked|struck|owed|moot)(?:_|$)", re.I)
IN_TEXTS = re.compile(r"(?:\b|_)((?:un)?told|tell|(?:un)?asked|struck|owed|moot)(?:\b|_)", re.I)
CLASS = re.compile(r"^[ \t]*class (\w+)", re.M)
CLASSES_MAX = 1
OLD_NAMES = "old_names.py"  # what records had before: no names of today
PHRASES_MAX = {
    "harness": 9, "faults": 0, "reference_impl": 0, "spark_analysis": 0,
    "docs": 0, "compose": 0, "examples": 1, "tests": 43,
}  # fmt: skip


@cache
def texts_of(folder: str) -> dict[Path, str]:
    """Return what people read of a folder, by path."""
    suffixes = (".py", ".md", ".toml", ".html", ".j2")
    paths = sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return {path: path.read_text("utf-8") for path in paths if path.name != OLD_NAMES}


def modules(*folders: str) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        yield from (
            (path, text) for path, text in texts_of(folder).items() if path.suffix == ".py"
        )


def defined(tree: ast.Module) -> Iterator[str]:
    """Yield the names of functions, classes, parameters, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_no_name_uses_a_participle_as_a_noun() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in modules(*PRODUCT, "tests")
        if IN_TEXTS.search(text)  # to parse every module would take half a minute
        for name in defined(ast.parse(text))
        if IN_NAMES.search(name)
    ]
    assert found == []


def test_few_classes_share_their_name_with_two_others() -> None:
    names = Counter(name for _, text in modules(*PRODUCT) for name in CLASS.findall(text))
    assert names.total() > 1_000
    assert sum(number > 2 for number in names.values()) <= CLASSES_MAX


def test_choices_of_three_are_written_as_statements() -> None:
    """No conditional expression stands in another, and no text is multiplied by a truth value."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, text in modules("harness", "spark_analysis")
        if " if " in text or " * " in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.expr) and (_is_nested(node) or _multiplies_text(node))
    ]
    assert found == []


def _is_nested(node: ast.expr) -> bool:
    parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()
    return any(isinstance(part, ast.IfExp) for part in parts)


def _multiplies_text(node: ast.expr) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    texts = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple)
    truths = (ast.Compare, ast.BoolOp)
    pairs = ((node.left, node.right), (node.right, node.left))
    return any(isinstance(a, texts) and isinstance(b, truths) for a, b in pairs)


@pytest.mark.parametrize("folder", PHRASES_MAX)
def test_texts_use_plain_phrases(folder: str) -> None:
    texts = texts_of(folder).values()
    found = Counter(match.lower() for text in texts for match in WORDS.findall(text))
    assert found.total() <= PHRASES_MAX[folder], found
