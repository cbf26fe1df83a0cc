"""Which native RocketMQ client this Python has, what it can do, or why it is refused.

1. Two packages bear the module name `rocketmq`: `rocketmq` 0.4.4, which brings its C++ library,
   and rocketmq-client-python 2.0.0, which brings none. Installed together, the later one overwrote
   the other's files: that is refused, too, because the result is undefined.
2. Features are found by what the package's classes have and the library exports, never by a
   version; features that our driver does not use are not listed.
3. `python -m harness.workers.clients.rocketmq.native_found` says it as JSON: loading the library
   starts threads and writes logs, so a mere query runs in a process of its own.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Any

WITH_LIBRARY = "rocketmq"
WITHOUT_LIBRARY = "rocketmq-client-python"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do a thing: a method of a class of rocketmq.client, and the library's function
    that it leads to. Without an owner the function itself is called."""

    symbol: str
    owner: str = ""
    method: str = ""

    def __str__(self) -> str:
        return f"{self.owner}.{self.method}" if self.owner else self.symbol


# Features that a workload may need. Packages use different names for the same; 0.4.4's comes
# first.
WAYS: Mapping[str, tuple[Way, ...]] = {
    "sync": (Way("SendMessageSync", "Producer", "send_sync"),),
    "async": (Way("SendMessageAsync", "Producer", "send_async"),),
    "oneway": (Way("SendMessageOneway", "Producer", "send_oneway"),),
    "ordered": (
        Way("SendMessageOrderly", "Producer", "send_orderly"),
        Way("SendMessageOrderlyByShardingKey", "Producer", "send_orderly_with_sharding_key"),
    ),
    "delayed": (Way("SetDelayTimeLevel"),),
    "concurrent": (Way("RegisterMessageCallback", "PushConsumer", "_register_callback"),),
    "orderly": (Way("RegisterMessageCallbackOrderly", "PushConsumer", "_register_callback"),),
}
# What every worker asks for.
NEEDED: Mapping[str, tuple[Way, ...]] = {
    "producers' name servers": (
        Way("SetProducerNameServerAddress", "Producer", "set_namesrv_addr"),
        Way("SetProducerNameServerAddress", "Producer", "set_name_server_address"),
    ),
    "producers' names": (Way("SetProducerInstanceName"),),
    "producers' time-out": (Way("SetProducerSendMsgTimeout", "Producer", "set_timeout"),),
    "producers' body size": (
        Way("SetProducerMaxMessageSize", "Producer", "set_max_message_size"),
    ),
    "producers' deflation": (Way("SetProducerCompressLevel", "Producer", "set_compress_level"),),
    "bodies with zero bytes": (Way("SetByteMessageBody"),),
    "consumers' name servers": (
        Way("SetPushConsumerNameServerAddress", "PushConsumer", "set_namesrv_addr"),
        Way("SetPushConsumerNameServerAddress", "PushConsumer", "set_name_server_address"),
    ),
    "consumers' names": (Way("SetPushConsumerInstanceName", "PushConsumer", "set_instance_name"),),
    "consumers' threads": (Way("SetPushConsumerThreadCount", "PushConsumer", "set_thread_count"),),
    "subscriptions": (Way("Subscribe"),),
    "what a delivery holds": (Way("GetMessageBody"),),
    "a delivery's place in its log": (Way("GetMessageQueueOffset"),),
    "a delivery's size": (Way("GetMessageStoreSize"),),
    "a delivery's former tries": (Way("GetMessageReconsumeTimes"),),
}
_INSTALL = f"`pip install {WITH_LIBRARY}==0.4.4` into an environment without {WITHOUT_LIBRARY}"


@dataclass(frozen=True, slots=True)
class NativeLibrary:
    """`refused` is empty where the client can be used."""

    package: str = ""  # "rocketmq 0.4.4"
    library: str = ""  # the file that was loaded
    features: tuple[str, ...] = ()
    refused: str = ""


def look() -> NativeLibrary:
    """Loads the library of this Python's package, if there is one."""
    versions = installed()
    if refused := refusal(versions):
        return NativeLibrary(refused=refused)
    package = " ".join(next(iter(versions.items())))
    return load(package, lambda error: refusal(versions, error), _INSTALL)


def load(package: str, refused_for: Callable[[str], str], how_to_get: str) -> NativeLibrary:
    """What the module `rocketmq` on sys.path can do; `refused_for` makes a refusal of the words of
    an import error."""
    try:
        from rocketmq import client, ffi
    except (ImportError, OSError, NotImplementedError, AttributeError) as error:
        # AttributeError: 2.0.0 takes whatever librocketmq there is, and binds functions that an
        # older one does not export.
        return NativeLibrary(package, refused=refused_for(str(error)))
    has = having(client, ffi.dll)
    library = str(ffi.dll._name)
    if lacks := ", and ".join(missing(has)):
        refused = f"{package} cannot be driven, for {lacks}; {how_to_get}"
        return NativeLibrary(package, library, refused=refused)
    return NativeLibrary(package, library, features(has))


def installed() -> dict[str, str]:
    """Version by package, of those that bear the module's name."""
    found = {}
    for name in (WITH_LIBRARY, WITHOUT_LIBRARY):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def refusal(versions: Mapping[str, str], import_error: str = "") -> str:
    """Why what is installed cannot be used, and what would help; empty where it may be tried."""
    if not versions:
        return f"no native client is installed; {_INSTALL}"
    if len(versions) > 1:
        both = " and ".join(f"{name} {version}" for name, version in versions.items())
        return f"{both} overwrite each other; {_INSTALL}"
    if not import_error:
        return ""
    ((name, version),) = versions.items()
    if name == WITHOUT_LIBRARY:
        return (
            f"{name} {version} brings no C++ library, and this machine has none that it can use "
            f"({import_error}); {_INSTALL}, or install librocketmq 2"
        )
    return f"{name} {version} cannot be loaded: {import_error}"


def having(client: Any, library: Any) -> Callable[[Way], bool]:
    """Whether a way is open: `client` is the module rocketmq.client, `library` its ffi.dll."""

    def has(way: Way) -> bool:
        owner = getattr(client, way.owner, None) if way.owner else None
        offered = not way.owner or hasattr(owner, way.method)
        return offered and hasattr(library, way.symbol)

    return has


def features(has: Callable[[Way], bool]) -> tuple[str, ...]:
    """What a workload may ask of a client with these ways."""
    return tuple(feature for feature, ways in WAYS.items() if any(map(has, ways)))


def missing(has: Callable[[Way], bool]) -> Iterator[str]:
    """What every worker asks for and this client offers no way to, as sentences' ends."""
    for what, ways in NEEDED.items():
        if not any(map(has, ways)):
            yield f"nothing sets or reports {what} (no {', no '.join(map(str, ways))})"


if __name__ == "__main__":
    print(json.dumps(asdict(look())))
