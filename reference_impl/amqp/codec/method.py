"""A method: a value whose annotations define its encoding."""

from typing import ClassVar, get_type_hints

import msgspec


class Method(msgspec.Struct, frozen=True):
    """`index`: the numbers of its class and of itself there. Fields stand in wire order."""

    index: ClassVar[tuple[int, int]]


def wire_types(kind: type[Method]) -> tuple[str, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(hints[name].__metadata__[0] for name in kind.__struct_fields__)
