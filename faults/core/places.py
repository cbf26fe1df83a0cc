"""PURE: where a fault strikes, as text: a host, or one process of a host that carries several.

1. `rkt1` is the host with all its processes; `rkt1/name-server` is that process alone. Both are
   names that another process understands: they survive in the journal.
2. Several places of one fault stand in one text, as they are recorded: `rkt1/x, rkt2/x`.
"""

OF = "/"
_AND = ", "


def place(host: str, process: str) -> str:
    """`process`: the layout's word for it."""
    return f"{host}{OF}{process}"


def host_of(place: str) -> str:
    return place.partition(OF)[0]


def process_of(place: str) -> str:
    """ "" for a host as a whole."""
    return place.partition(OF)[2]


def joined(places: tuple[str, ...]) -> str:
    """The places of one fault as one text."""
    return _AND.join(places)


def split(resolved: str) -> tuple[str, ...]:
    """The places that `joined` made one text of."""
    return tuple(resolved.split(_AND))


def overlap(one: str, other: str) -> bool:
    """Return whether what is done to one place is done to the other, too: a process is of its
    host."""
    return one == other or one in (host_of(other), other) or other == host_of(one)
