"""PURE: a compose document as YAML in which what services share stands once, behind an anchor.

1. Merge keys change no meaning: a parser reads the document that was given, and `x-` blocks that
   both compose tools ignore.
2. `x-all` holds what all services share. `x-GROUP` holds what the services of one group share
   beyond that. Labels that everything carries are `x-labels`.
3. A merge replaces a key and never joins two values, so a block holds only whole values.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import yaml

Document = dict[str, Any]
ALL, LABELS = "x-all", "x-labels"
_WIDTH = 99
_FLOW_MAX = 90  # a list or a mapping of plain values that fits on a line stands on one


class _Merge(str):
    """The key `<<`, which a plain string would be quoted as."""

    __slots__ = ()


MERGE = _Merge("<<")


def anchored(document: Document, group_of: Callable[[str], str]) -> str:
    """Return the text of a compose document. `group_of` returns a service's group by its name."""
    blocks: dict[str, Document] = {}
    common = _shared([made["labels"] for made in _everything(document)])
    labels = {LABELS: common} if common else {}
    services = _without_labels(document["services"], common)
    blocks[ALL] = _shared(list(services.values()))
    groups = sorted({group_of(name) for name in services})
    for group in groups:
        members = [services[name] for name in services if group_of(name) == group]
        own = _beyond(_shared(members), blocks[ALL]) if len(members) > 1 else {}
        if own:
            blocks[f"x-{group}"] = {MERGE: blocks[ALL], **own}
    merged = {name: _merged(service, blocks, group_of(name)) for name, service in services.items()}
    text = {
        **labels,
        **blocks,
        "services": {name: _with_labels(service, common) for name, service in merged.items()},
        **{kind: _labelled(document[kind], common) for kind in ("networks", "volumes")},
    }
    names = {id(block): name.removeprefix("x-") for name, block in (labels | blocks).items()}
    return yaml.dump(text, Dumper=_dumper(names), sort_keys=False, width=_WIDTH)


def _everything(document: Document) -> list[Document]:
    kinds = ("services", "networks", "volumes")
    return [made for kind in kinds for made in document[kind].values()]


def _shared(every: list[Document]) -> Document:
    """Return the items that all of these mappings have; labels are shared in their own block."""
    first, *others = every
    return {
        key: value
        for key, value in first.items()
        if key != "labels" and all(key in other and other[key] == value for other in others)
    }


def _beyond(document: Document, block: Document) -> Document:
    return {key: value for key, value in document.items() if key not in block}


def _merged(service: Document, blocks: Mapping[str, Document], group: str) -> Document:
    """Return the service with a merge key in place of what its group's block holds."""
    block = blocks.get(f"x-{group}", blocks[ALL])
    held = blocks[ALL] | block
    return {MERGE: block, **_beyond(service, held)} if held else service


def _without_labels(services: Document, common: Document) -> Document:
    return {
        name: {**service, "labels": _beyond(service["labels"], common)}
        for name, service in services.items()
    }


def _with_labels(service: Document, common: Document) -> Document:
    return {**service, "labels": {MERGE: common, **service["labels"]}} if common else service


def _labelled(every: Document, common: Document) -> Document:
    """Return networks or volumes, whose labels are the common ones."""
    if not common:
        return every
    return {
        name: {**made, "labels": common if made["labels"] == common else made["labels"]}
        for name, made in every.items()
    }


class _Anchors(yaml.SafeDumper):
    """Gives the objects of `names`, by identity, their anchors, and no other object one.

    A list or a mapping that fits on a line stands on one.
    """

    names: ClassVar[Mapping[int, str]]
    of_nodes: ClassVar[dict[yaml.Node, str]]

    def ignore_aliases(self, data: Any) -> bool:
        return id(data) not in self.names

    def represent_data(self, data: Any) -> yaml.Node:
        node = super().represent_data(data)
        if id(data) in self.names:
            self.of_nodes[node] = self.names[id(data)]
        return node

    def generate_anchor(self, node: yaml.Node) -> str:
        return self.of_nodes[node]

    def represent_document_mapping(self, data: Document) -> yaml.Node:
        node = self.represent_mapping("tag:yaml.org,2002:map", data.items())
        node.flow_style = self._is_short(data, data.values()) and id(data) not in self.names
        return node

    def represent_document_sequence(self, data: list[Any]) -> yaml.Node:
        node = self.represent_sequence("tag:yaml.org,2002:seq", data)
        node.flow_style = self._is_short(data, data)
        return node

    def _is_short(self, data: object, values: Iterable[object]) -> bool:
        found = list(values)
        aliases = [value for value in found if id(value) in self.names]
        if any(isinstance(value, dict | list) for value in found if id(value) not in self.names):
            return False
        spared = sum(len(str(value)) - len(self.names[id(value)]) for value in aliases)
        return bool(found) and len(str(data)) - spared <= _FLOW_MAX


_Anchors.add_representer(
    _Merge, lambda _, key: yaml.ScalarNode("tag:yaml.org,2002:merge", str(key))
)
_Anchors.add_representer(dict, _Anchors.represent_document_mapping)
_Anchors.add_representer(list, _Anchors.represent_document_sequence)


def _dumper(named: Mapping[int, str]) -> type[yaml.SafeDumper]:
    """Return a class, since yaml.dump makes the dumper itself."""

    class Anchors(_Anchors):
        names = named
        of_nodes: ClassVar[dict[yaml.Node, str]] = {}

    return Anchors
