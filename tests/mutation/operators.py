"""Mutation operators that Cosmic Ray lacks: membership, filters, words, extremes, `|=`.

1. Each changes one operator, constant or branch, as Cosmic Ray's own do.
2. They are registered beside the core ones by `register()`; a mutant is named `ours/<class>`.
"""

from collections.abc import Iterator

import cosmic_ray.plugins
import parso
from cosmic_ray.operators.operator import Example, Operator
from parso.tree import NodeOrLeaf

Positions = Iterator[tuple[tuple[int, int], tuple[int, int]]]

OPPOSITES = {"min": "max", "any": "all", "minimum": "maximum", "argmin": "argmax"}
OPPOSITES |= {opposite: word for word, opposite in OPPOSITES.items()}
STEPS = {"|=": "&=", "&=": "|=", "+=": "-=", "-=": "+=", "*=": "+="}
OTHERS = {'"right"': '"left"', '"left"': '"right"', '"stable"': '"heapsort"'}


def register() -> None:
    """Makes the operators known to Cosmic Ray, in this process."""
    cosmic_ray.plugins.OPERATOR_PROVIDERS["ours"] = {
        operator.__name__: operator
        for operator in (Membership, Filter, Word, Extreme, AugmentedStep)
    }


class _Leafwise(Operator):
    """Changes the text of single leaves."""

    def mutation_positions(self, node: NodeOrLeaf) -> Positions:
        if self.changed(node) is not None:
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        node.value = self.changed(node)
        return node

    def changed(self, node: NodeOrLeaf) -> str | None:
        """What the leaf reads as a mutant; None where this operator leaves it alone."""
        raise NotImplementedError


class Extreme(_Leafwise):
    """`min` for `max`, `any` for `all`, and back."""

    def changed(self, node: NodeOrLeaf) -> str | None:
        return OPPOSITES.get(node.value) if node.type == "name" else None

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("min(a)", "max(a)"),)


class AugmentedStep(_Leafwise):
    """`|=` for `&=`, `+=` for `-=`, and back."""

    def changed(self, node: NodeOrLeaf) -> str | None:
        return STEPS.get(node.value) if node.type == "operator" else None

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("a |= b", "a &= b"),)


class Word(_Leafwise):
    """Another word; a side becomes the other side, a stable sort one that is not."""

    def changed(self, node: NodeOrLeaf) -> str | None:
        if node.type != "string" or node.value.startswith('"""'):
            return None
        return OTHERS.get(node.value, f"{node.value[:-1]}XX{node.value[-1]}")

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example('a = "b"', 'a = "bXX"'),)


class Membership(Operator):
    """`in` for `not in`, and back."""

    def mutation_positions(self, node: NodeOrLeaf) -> Positions:
        if self._compares(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        if node.type == "keyword":
            node.value = "not in"
            return node
        return parso.python.tree.Keyword("in", node.start_pos, " ")

    def _compares(self, node: NodeOrLeaf) -> bool:
        if node.type == "comp_op":
            return [child.value for child in node.children] == ["not", "in"]
        return node.type == "keyword" and node.value == "in" and node.parent.type == "comparison"

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("a in b", "a not in b"), Example("a not in b", "a in b"))


class Filter(Operator):
    """A comprehension takes what it left out."""

    def mutation_positions(self, node: NodeOrLeaf) -> Positions:
        if node.type == "comp_if":
            yield node.start_pos, node.end_pos

    def mutate(self, node: NodeOrLeaf, index: int) -> NodeOrLeaf:
        condition = node.children[1].get_code(include_prefix=False)
        node.children[1] = parso.parse(f" not ({condition})")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("[a for a in b if c]", "[a for a in b if not (c)]"),)
