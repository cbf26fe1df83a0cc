"""The interface's bodies: proxies and toxics read from JSON, and written as JSON.

1. Fields that are not given have the interface's defaults: an enabled proxy, a downstream toxic
   with toxicity 1 and the name TYPE_STREAM. `null` counts as not given. Unknown fields are
   ignored.
2. A body that is refused changes nothing: it is read as a whole before anything is made of it.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from faults.proxy.core.model import Direction, Proxy, ProxyError, Toxic
from faults.proxy.core.registry import Wanted
from faults.proxy.core.toxics.catalogue import KINDS, Settings

BAD = 400
INT64 = range(-(2**63), 2**63)
FLOAT32_MAX = float.fromhex("0x1.fffffep127")
Json = dict[str, Any]  # a proxy or a toxic, on its way to JSON


def proxy(one: Proxy) -> Json:
    return {
        "name": one.name,
        "listen": one.listen,
        "upstream": one.upstream,
        "enabled": one.enabled,
        "Logger": {},  # 2.12.0 lets it slip out; clients may have come to expect it
        "toxics": [toxic(each) for each in one.ordered()],
    }


def toxic(one: Toxic) -> Json:
    return {
        "attributes": dataclasses.asdict(one.settings),
        "name": one.name,
        "type": one.type,
        "stream": one.stream,
        "toxicity": one.toxicity,
    }


def read_proxy(body: bytes) -> Wanted:
    return _wanted(_read(body), "")


def read_proxies(body: bytes) -> list[Wanted]:
    """All of them are read before the first can be made."""
    documents = _read(body)
    if not isinstance(documents, list):
        raise _bad("expected an array")
    return [_wanted(one, f" at proxy {i}") for i, one in enumerate(documents, start=1)]


def read_proxy_update(body: bytes, existing: Proxy) -> Wanted:
    given = _fields(_read(body), _PROXY)
    return Wanted(
        existing.name,
        given.get("listen", existing.listen),
        given.get("upstream", existing.upstream),
        given.get("enabled", existing.enabled),
    )


def read_toxic(body: bytes, must_be_new: Callable[[str], None]) -> Toxic:
    given = _fields(_read(body), _TOXIC)
    type_, stream = given.get("type"), given.get("stream", Direction.DOWNSTREAM.value)
    if stream.lower() not in {way.value for way in Direction}:
        raise ProxyError(BAD, "stream was invalid, can be either upstream or downstream")
    if type_ not in KINDS:
        raise ProxyError(BAD, "invalid toxic type")
    name = given.get("name") or f"{type_}_{stream}"
    must_be_new(name)
    settings = _settings(given, KINDS[type_].settings())
    return Toxic(name, type_, stream, given.get("toxicity", 1.0), settings)


def read_toxic_update(body: bytes, existing: Toxic) -> Toxic:
    given = _fields(_read(body), _TOXIC_UPDATE)
    return dataclasses.replace(
        existing,
        toxicity=given.get("toxicity", existing.toxicity),
        settings=_settings(given, existing.settings),
    )


def _read(body: bytes) -> Any:
    """Return the document. Its text is UTF-8 throughout: half a surrogate pair is refused."""
    try:
        document = json.loads(body.decode(), parse_constant=_no_number)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise _bad(str(error)) from None
    return document


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


def _fields(document: Any, kinds: Mapping[str, str]) -> Json:
    """Return the fields that are given. Raise ProxyError for a wrong type."""
    if not isinstance(document, dict):
        raise _bad("expected an object")
    given = {name: document[name] for name in kinds if document.get(name) is not None}
    for name, value in given.items():
        if not _FITS[kinds[name]](value):
            raise _bad(f"{name}: expected {kinds[name]}")
    return given


def _wanted(document: Any, where: str) -> Wanted:
    given = _fields(document, _PROXY)
    for name in ("name", "upstream"):
        if not given.get(name):
            raise ProxyError(BAD, f"missing required field: {name}{where}")
    return Wanted(
        given["name"], given.get("listen", ""), given["upstream"], given.get("enabled", True)
    )


def _settings(given: Json, existing: Settings) -> Settings:
    """Return the settings. Those that are not given stay as they are."""
    names = [field.name for field in dataclasses.fields(existing)]
    attributes = _fields(given.get("attributes", {}), dict.fromkeys(names, INTEGER))
    return dataclasses.replace(existing, **attributes)


def _bad(text: str) -> ProxyError:
    return ProxyError(BAD, f"bad request body: {text}")


TEXT, FLAG, INTEGER, NUMBER, OBJECT = (
    "a string", "true or false", "an integer of 64 bits", "a number", "an object",
)  # fmt: skip
_PROXY = {"name": TEXT, "listen": TEXT, "upstream": TEXT, "enabled": FLAG}
_TOXIC_UPDATE = {"attributes": OBJECT, "toxicity": NUMBER}
_TOXIC = {"name": TEXT, "type": TEXT, "stream": TEXT, **_TOXIC_UPDATE}
_FITS: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    FLAG: lambda value: isinstance(value, bool),
    INTEGER: lambda value: type(value) is int and value in INT64,
    NUMBER: lambda value: type(value) in (int, float) and abs(value) <= FLOAT32_MAX,
    OBJECT: lambda value: isinstance(value, dict),
}
