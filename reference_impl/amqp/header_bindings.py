"""A binding of a headers exchange against a message's headers (docs/behaviour/rabbitmq.md 2.3).

1. `x-match` says whether all of the binding's arguments have to be among the headers (as without
   it), or any; arguments whose names begin with `x-` count only with all-with-x and any-with-x.
2. A value fits that is equal and of the same class: all integers are of one, and so are fractions.
   Nothing at all (a void) fits whatever is there.
3. Of no arguments all are there, and none is.
"""

from collections.abc import Mapping
from typing import Any

from reference_impl.amqp.errors import PRECONDITION_FAILED, AmqpError

MATCH = "x-match"
ALL, ANY = ("all", "all-with-x"), ("any", "any-with-x")
_WITH_X = (ALL[1], ANY[1])


def check(arguments: Mapping[str, Any]) -> None:
    """Raises 406."""
    how = arguments.get(MATCH, ALL[0])
    if not isinstance(how, str):
        text = f"Invalid x-match field type {type(how).__name__} (value {how!r}); expected longstr"
        raise AmqpError(PRECONDITION_FAILED, text)
    if how not in (*ALL, *ANY):
        text = f"Invalid x-match field value '{how}'; expected all, any, all-with-x, or any-with-x"
        raise AmqpError(PRECONDITION_FAILED, text)


def fits(arguments: Mapping[str, Any], headers: Mapping[str, Any]) -> bool:
    how = arguments.get(MATCH, ALL[0])
    with_x = how in _WITH_X
    wanted = [name for name in arguments if name != MATCH and (with_x or name[:2] != "x-")]
    matches = (name in headers and _is(arguments[name], headers[name]) for name in wanted)
    return any(matches) if how in ANY else all(matches)


def _is(wanted: Any, value: Any) -> bool:
    return wanted is None or (type(wanted) is type(value) and bool(wanted == value))
