"""The interface's bodies: proxies and toxics read from JSON, and written as JSON.

1. Fields that are not given have the interface's defaults: an enabled proxy, a downstream toxic
   with toxicity 1 and the name TYPE_STREAM.
2. A toxic is read twice, as the real server does: its frame, then its attributes, which need the
   type. Errors in the frame, the type and the name are reported before errors in the attributes.
"""

import dataclasses
from collections.abc import Callable

from faults.proxy.json_text import Written, read
from faults.proxy.json_types import Fields, Record, read_record, read_records
from faults.proxy.model import Direction, Proxy, ProxyError, Toxic
from faults.proxy.registry import Wanted
from faults.proxy.toxics.catalogue import KINDS, Settings, ToxicType

BAD = 400
_LOGGER = Record("Logger", "zerolog.Logger", {})
_PROXY_FIELDS = {"name": "string", "listen": "string", "upstream": "string", "enabled": "bool"}
_PROXY = Record("Proxy", "toxiproxy.Proxy", {**_PROXY_FIELDS, "Logger": _LOGGER})
_PROXY_OF_MANY = Record(
    "",
    'struct { toxiproxy.Proxy; Enabled *bool "json:\\"enabled\\"" }',
    {**_PROXY_FIELDS, "Logger": _LOGGER},
)
_FRAME = Record(
    "ToxicWrapper",
    "toxics.ToxicWrapper",
    {
        "attributes": Record("NoopToxic", "toxics.NoopToxic", {}),
        "name": "string",
        "type": "string",
        "stream": "string",
        "toxicity": "float32",
    },
)


def proxy(one: Proxy) -> Written:
    return {
        "name": one.name,
        "listen": one.listen,
        "upstream": one.upstream,
        "enabled": one.enabled,
        "Logger": {},  # 2.12.0 lets it slip out; clients may have come to expect it
        "toxics": [toxic(each) for each in one.ordered()],
    }


def toxic(one: Toxic) -> Written:
    return {
        "attributes": dataclasses.asdict(one.settings),
        "name": one.name,
        "type": one.type,
        "stream": one.stream,
        "toxicity": one.toxicity,
    }


def read_proxy(body: bytes) -> Wanted:
    return _wanted(read_record(read(body), _PROXY), "")


def read_proxies(body: bytes) -> list[Wanted]:
    """All of them are read before the first can be made."""
    entries = read_records(read(body), _PROXY_OF_MANY)
    return [_wanted(entry, f" at proxy {i}") for i, entry in enumerate(entries, start=1)]


def read_proxy_update(body: bytes, existing: Proxy) -> Wanted:
    fields = read_record(read(body), _PROXY)
    return Wanted(
        existing.name,
        fields.text("listen", existing.listen),
        fields.text("upstream", existing.upstream),
        fields.flag("enabled", existing.enabled),
    )


def read_toxic(body: bytes, must_be_new: Callable[[str], None]) -> Toxic:
    value = read(body)
    frame = read_record(value, _FRAME)
    type_, stream = frame.text("type"), frame.text("stream", Direction.DOWNSTREAM.value)
    if stream.lower() not in {way.value for way in Direction}:
        raise ProxyError(BAD, "stream was invalid, can be either upstream or downstream")
    if type_ not in KINDS:
        raise ProxyError(BAD, "invalid toxic type")
    name = frame.text("name") or f"{type_}_{stream}"
    must_be_new(name)
    attributes = read_record(value, _unnamed(KINDS[type_]))
    settings = _settings(attributes, KINDS[type_], None)
    return Toxic(name, type_, stream, frame.fraction("toxicity", 1.0), settings)


def read_toxic_update(body: bytes, existing: Toxic) -> Toxic:
    fields = read_record(read(body), _unnamed(KINDS[existing.type]))
    return dataclasses.replace(
        existing,
        toxicity=fields.fraction("toxicity", existing.toxicity),
        settings=_settings(fields, KINDS[existing.type], existing.settings),
    )


def _wanted(fields: Fields, where: str) -> Wanted:
    for name in ("name", "upstream"):
        if not fields.text(name):
            raise ProxyError(BAD, f"missing required field: {name}{where}")
    return Wanted(
        fields.text("name"),
        fields.text("listen"),
        fields.text("upstream"),
        fields.flag("enabled", True),
    )


def _settings(fields: Fields, kind: ToxicType, existing: Settings | None) -> Settings:
    """Return the settings. Those that are not given stay as they are, or are 0."""
    absent = kind.settings() if existing is None else existing
    names = [field.name for field in dataclasses.fields(kind.settings)]
    given = {name: fields.integer(f"attributes.{name}", getattr(absent, name)) for name in names}
    return kind.settings(**given)


def _unnamed(kind: ToxicType) -> Record:
    """The real server reads attributes through a struct that has no name."""
    names = [field.name for field in dataclasses.fields(kind.settings)]
    attributes = Record(
        kind.go_name, f"toxics.{kind.go_name}", dict.fromkeys(names, kind.go_number)
    )
    return Record(
        "",
        'struct { Attributes interface {} "json:\\"attributes\\""; '
        'Toxicity float32 "json:\\"toxicity\\"" }',
        {"attributes": attributes, "toxicity": "float32"},
    )
