"""Clock, TCP and HTTP calls of the agent.

1. A connection attempt tells how long it took and why it failed: silence is not a refusal.
2. An HTTP answer of any status is an answer; only its absence is an error, and one that is too
   long to be passed on. A redirection is not followed: the credentials are for one host.
"""

import asyncio
import http.client as http_client
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from faults.self_connections import refuse_self_connection
from harness.workers.agent_calls.answers import CallError, in_thread
from harness.workers.agent_calls.encrypted import HttpsHandler

ANSWER_MAX_BYTES = 6 << 20  # as JSON it may be twice as long, on a line of limited length
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def clock() -> dict[str, Any]:
    monotonic_ns = time.monotonic_ns()
    suspended_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - monotonic_ns
    return {
        "monotonic_ns": monotonic_ns,
        "suspended_ns": suspended_ns,
        "boot_id": _BOOT_ID.read_text().strip(),
    }


async def connect(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    """TCP, closed at once."""
    began_ns = time.monotonic_ns()
    detail = "connected"
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(host, port)
        try:
            refuse_self_connection(writer.get_extra_info("socket"))
        finally:
            writer.transport.abort()
    except TimeoutError:
        detail = f"silent for {timeout_s:g} s"
    except OSError as error:
        detail = str(error)
    return {
        "connected": detail == "connected",
        "seconds": seconds_since(began_ns),
        "detail": detail,
    }


async def hear(host: str, port: int, timeout_s: float) -> dict[str, Any]:
    """TCP, and what the other side says first and by itself; nothing is said to it."""
    began_ns = time.monotonic_ns()
    detail = "answered"
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                refuse_self_connection(writer.get_extra_info("socket"))
                if not await reader.read(1):
                    detail = "closed"
            finally:
                writer.transport.abort()
    except TimeoutError:
        detail = f"silent for {timeout_s:g} s"
    except OSError as error:
        detail = str(error)
    return {
        "answered": detail == "answered",
        "seconds": seconds_since(began_ns),
        "detail": detail,
    }


async def http(
    method: str, url: str, headers: dict[str, str], body: str, timeout_s: float
) -> dict[str, Any]:
    request = urllib.request.Request(
        url, data=body.encode() if body else None, headers=headers, method=method
    )
    try:
        return await in_thread(lambda: _exchange(request, timeout_s), timeout_s)
    except TimeoutError:
        raise CallError("timeout", f"{method} {url}: no answer in {timeout_s:g} s") from None
    except urllib.error.URLError as error:
        raise _failure(f"{method} {url}", error.reason) from error
    except OSError as error:
        raise _failure(f"{method} {url}", error) from error
    except CallError:
        raise
    except Exception as error:  # http.client has a family of its own, for broken answers
        raise CallError("http", f"{method} {url}: {error!r}") from error


def seconds_since(began_ns: int) -> float:
    return (time.monotonic_ns() - began_ns) / 1e9


def _exchange(request: urllib.request.Request, timeout_s: float) -> dict[str, Any]:
    # No proxies: the environment's are for the world outside, never for brokers.
    own = (_Redirections(), _HttpHandler(), HttpsHandler())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), *own)
    try:
        with opener.open(request, timeout=timeout_s) as response:
            return {"status": response.status, "body": _body(response)}
    except urllib.error.HTTPError as error:
        with error:
            return {"status": error.code, "body": _body(error)}


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Answers, like all others."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


class _HttpHandler(urllib.request.HTTPHandler):
    """HTTP, where a connection with itself counts as refused."""

    def http_open(self, request: urllib.request.Request) -> http_client.HTTPResponse:
        return self.do_open(_HttpConnection, request)


class _HttpConnection(http_client.HTTPConnection):
    def connect(self) -> None:
        super().connect()
        refuse_self_connection(self.sock)


def _body(response: IO[bytes]) -> str:
    found = response.read(ANSWER_MAX_BYTES + 1)
    if len(found) > ANSWER_MAX_BYTES:
        raise CallError("http", f"the answer has more than {ANSWER_MAX_BYTES >> 20} MB")
    return found.decode(errors="replace")


def _failure(what: str, reason: BaseException | str) -> CallError:
    if isinstance(reason, ConnectionRefusedError):
        return CallError("refused", f"{what}: refused")
    if isinstance(reason, TimeoutError):
        return CallError("timeout", f"{what}: {reason}")
    return CallError("http", f"{what}: {reason}")
