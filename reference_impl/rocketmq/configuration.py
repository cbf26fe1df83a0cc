"""Configuration files, as the real ones read them: a line for each key, `key=value`.

1. Keys are the real ones' own; for a timer that has no key there, ours (settings.py).
2. A key of the real one that means nothing here is declared so, and passed over. Any other one is
   a mistake, and so is a value that is none; all of them are reported at once.
3. `compression` divides every timer by one factor, whatever the file says of it.
"""

from typing import Any, TypeVar

import msgspec

from reference_impl.rocketmq.settings import (
    BrokerSettings,
    BrokerTimes,
    NameServer,
    NameServerTimes,
    over,
)

COMPRESSION = "compression"
_IDLE_SECONDS, _IDLE_MS = "serverChannelMaxIdleTimeSeconds", "serverChannelMaxIdleTime"
# What the real one has and this one has no use for: files are never removed, no index is kept,
# nothing waits in a queue between a socket and its turn.
_WITHOUT_MEANING = frozenset(
    {
        "brokerIP2",
        "deleteWhen",
        "diskMaxUsedSpaceRatio",
        "fileReservedTime",
        "maxHashSlotNum",
        "maxIndexNum",
        "osPageCacheBusyTimeOutMills",
        "storePathCommitLog",
        "waitTimeMillsInSendQueue",
    }
)
S = TypeVar("S", BrokerSettings, NameServer)


def broker(text: str) -> BrokerSettings:
    """Raises ValueError, with a line for each mistake."""
    return _read(text, BrokerSettings, BrokerTimes)


def name_server(text: str) -> NameServer:
    """Raises ValueError, with a line for each mistake."""
    return _read(text, NameServer, NameServerTimes)


def _read(text: str, kind: type[S], times: type[msgspec.Struct]) -> S:
    values, mistakes = _values(text)
    factor = _factor(values.pop(COMPRESSION, "1"), mistakes)
    own, timers = _names(kind) - {"times"}, _names(times)
    known = own | timers | _WITHOUT_MEANING
    mistakes += [f"{name}: no such key" for name in sorted(values.keys() - known)]
    settings = _converted({n: values[n] for n in values.keys() & own}, kind, mistakes)
    timed = _converted({n: values[n] for n in values.keys() & timers}, times, mistakes)
    if mistakes or settings is None or timed is None:
        raise ValueError("\n".join(mistakes))
    made: S = msgspec.structs.replace(settings, times=over(timed, factor))
    return made


def _values(text: str) -> tuple[dict[str, str], list[str]]:
    """Of a key that stands twice the last word counts, as in the real ones."""
    values, mistakes = dict[str, str](), list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        name, is_set, value = line.partition("=")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not is_set:
            mistakes.append(f"line {number}: {line!r} is no key=value")
        values[name.strip()] = value.strip()
    if _IDLE_SECONDS in values:
        values[_IDLE_MS] = _milliseconds(values.pop(_IDLE_SECONDS))
    return values, mistakes


def _milliseconds(seconds: str) -> str:
    try:
        return str(int(float(seconds) * 1000))
    except (ValueError, OverflowError):
        return seconds


def _factor(text: str, mistakes: list[str]) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        mistakes.append(f"{COMPRESSION}: {text!r} is no number above 0")
        return 1.0
    return factor


def _names(kind: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(kind)}


def _converted(values: dict[str, str], kind: type[Any], mistakes: list[str]) -> Any:
    """Convert each value by itself, so that all mistakes are reported."""
    taken = {}
    for field in msgspec.structs.fields(kind):
        name = field.encode_name
        if name not in values:
            if field.required:
                mistakes.append(f"{name}: it has to be there")
            continue
        try:
            taken[field.name] = msgspec.convert(values[name], field.type, strict=False)
        except msgspec.ValidationError as error:
            mistakes.append(f"{name}: {values[name]!r}: {error}")
    return None if mistakes else kind(**taken)
