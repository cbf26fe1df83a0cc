"""Where Spark runs: the options of commands that judge."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import typer

from harness.outside.text import brief
from harness.plan.problems import Problem
from spark_analysis.schema.place import (
    MASTERS,
    MEMORIES,
    MEMORY,
    Place,
    settings,
    size,
    wrong_master,
)

MASTER, CONF = "--master", "--conf"

MasterOption = Annotated[
    str,
    typer.Option(MASTER, metavar="URL", help="Where Spark runs: local[N], spark://HOST:PORT ..."),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(CONF, metavar="KEY=VALUE", help="A Spark setting; repeatable."),
]


def place(master: str, conf: list[str] | None) -> tuple[Place, list[Problem]]:
    """And all that is wrong with these words."""
    found = list(settings(conf or ()))
    pairs = tuple(one for one in found if not isinstance(one, str))
    return Place(master, pairs), [*_problems(master, found)]


def _problems(master: str, found: list[tuple[str, str] | str]) -> Iterator[Problem]:
    if wrong_master(master):
        yield Problem(MASTER, f"{brief(master)} is no master of Spark's", MASTERS)
    for word in dict.fromkeys(one for one in found if isinstance(one, str)):
        yield Problem(CONF, f"{brief(word)} is no setting: spark.KEY=VALUE")
    for key, value in (one for one in found if not isinstance(one, str)):
        if key == MEMORY and size(value) is None:
            yield Problem(CONF, f"{MEMORY} = {brief(value)} is no size", MEMORIES)
    keys = Counter(one[0] for one in found if not isinstance(one, str))
    for key, count in keys.items():
        if count > 1:
            yield Problem(CONF, f"{brief(key)} stands there {count} times")
