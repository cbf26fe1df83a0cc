"""Which native RocketMQ client this Python has, what it can do, or why it is refused.

1. Two packages bear the module name `rocketmq`: `rocketmq` 0.4.4, which brings its C++ library,
   and rocketmq-client-python 2.0.0, which brings none. Installed together, the later one overwrote
   the other's files: that is refused, too, for nobody knows what is left.
2. Features are found by what the library exports, never by a version.
3. `python -m harness.workers.clients.rocketmq.native_found` says it as JSON: loading the library
   starts threads and writes logs, so whoever only asks has it done by a process of its own.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata

WITH_LIBRARY = "rocketmq"
WITHOUT_LIBRARY = "rocketmq-client-python"
# What a feature of ours needs the library to export.
SYMBOLS: Mapping[str, str] = {
    "sync": "SendMessageSync",
    "async": "SendMessageAsync",
    "oneway": "SendMessageOneway",
    "ordered": "SendMessageOrderly",
    "transaction": "CreateTransactionProducer",
    "delayed": "SetDelayTimeLevel",
    "concurrent": "RegisterMessageCallback",
    "orderly": "RegisterMessageCallbackOrderly",
    "place": "GetMessageBrokerName",
}
_INSTALL = f"`pip install {WITH_LIBRARY}==0.4.4` into an environment without {WITHOUT_LIBRARY}"


@dataclass(frozen=True, slots=True)
class Found:
    """`refused` is empty where the client can be used."""

    package: str = ""  # "rocketmq 0.4.4"
    library: str = ""  # the file that was loaded
    features: tuple[str, ...] = ()
    refused: str = ""


def look() -> Found:
    """Loads the library of this Python's package, if there is one."""
    versions = installed()
    if refused := refusal(versions):
        return Found(refused=refused)
    package = " ".join(next(iter(versions.items())))
    try:
        from rocketmq import ffi
    except (ImportError, OSError, NotImplementedError, AttributeError) as error:
        # AttributeError: 2.0.0 takes whatever librocketmq there is, and binds functions that an
        # older one does not export.
        return Found(package, refused=refusal(versions, str(error)))

    def exports(symbol: str) -> bool:
        return hasattr(ffi.dll, symbol)

    return Found(package, str(ffi.dll._name), features(exports))


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


def features(exports: Callable[[str], bool]) -> tuple[str, ...]:
    """The features of a library that answers so to the names of its functions."""
    return tuple(feature for feature, symbol in SYMBOLS.items() if exports(symbol))


if __name__ == "__main__":
    print(json.dumps(asdict(look())))
