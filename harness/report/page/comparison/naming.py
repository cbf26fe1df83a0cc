"""What to call a column: by what tells it from the others, and by nothing else.

1. Where columns differ in one thing only (the system, the layout, the client), that is their name.
2. Of layouts' titles the clauses that they share are left out; where that leaves nothing short, or
   nothing that tells them apart, their own words are taken, without the timers that all have.
"""

import re
from collections.abc import Mapping, Sequence

Key = tuple[str, str, str]  # system, layout, client
Titles = Mapping[Key, tuple[str, str]]  # of system and layout
NAME_MAX = 64  # characters of a layout


def names(keys: Sequence[Key], titles: Titles) -> dict[Key, str]:
    """One a column, each its own: `RabbitMQ 3.10`, `a confirm waits for a slave`, `pika`."""
    systems = _systems(keys, titles)
    found = {}
    for system in dict.fromkeys(key[0] for key in keys):
        own = [key for key in keys if key[0] == system]
        layouts = _layouts(own, titles)
        for key in own:
            beside = [other for other in own if other[1] == key[1]]
            parts = [systems[system]] if len(systems) > 1 else []
            parts += [layouts[key[1]]] if len(layouts) > 1 else []
            parts += [key[2]] if len(beside) > 1 else []
            parts = parts or [systems[system]]  # it stands alone
            found[key] = ": ".join((parts[0], ", ".join(parts[1:]))) if parts[1:] else parts[0]
    return found


def brief(title: str) -> str:
    """A title up to where it begins to explain: `RabbitMQ 3.10`."""
    return title.partition(",")[0].partition(" with ")[0]


def _systems(keys: Sequence[Key], titles: Titles) -> dict[str, str]:
    found = {key[0]: brief(titles[key][0]) for key in keys}
    return found if len(set(found.values())) == len(found) else {name: name for name in found}


def _layouts(keys: Sequence[Key], titles: Titles) -> dict[str, str]:
    """Of one system."""
    own = {key[1]: titles[key][1] for key in keys}
    for extra in (_different(own), _timers(own)):
        texts = set(extra.values())
        if len(texts) == len(own) and all(0 < len(text) <= NAME_MAX for text in texts):
            return extra
    return _own_words(own)


def _own_words(own: Mapping[str, str]) -> dict[str, str]:
    """`exactly-2` and `unmirrored`; `all@T=10` and `all@T=60`, where timers differ, too."""
    briefs = {name: name.partition("@")[0] for name in own}
    shared = len({name.partition("@")[2] for name in own}) == 1
    return briefs if shared else {name: name for name in own}


def _different(own: Mapping[str, str]) -> dict[str, str]:
    """The clauses of each title that not all of them have."""
    clauses = {name: re.split(r"[;,] ", title) for name, title in own.items()}
    shared = set.intersection(*map(set, clauses.values())) if len(clauses) > 1 else set()
    return {
        name: ", ".join(clause for clause in own_clauses if clause not in shared)
        for name, own_clauses in clauses.items()
    }


def _timers(own: Mapping[str, str]) -> dict[str, str]:
    """`T=10` and `T=60`, where that is all that differs."""
    if len({name.partition("@")[0] for name in own}) > 1:
        return dict.fromkeys(own, "")
    return {name: name.partition("@")[2] for name in own}
