"""Plays every case against one kind of server, and says what was answered and seen.

1. Requests are played one after another on one server; scenarios side by side, on a few servers,
   because they spend their time waiting.
2. What differs from run to run is named: addresses become `<1>`, `<2>` … in the order in which
   they were first seen.
3. Bodies are compared as JSON values. Left out are the words that Go's libraries have for what is
   wrong: after `bad request body`, and all of them for a status that is the machine's own (500).
4. A scenario that breaks is reported as its error; a server that crashed is replaced.
"""

import json
import re
import socket
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from queue import SimpleQueue
from typing import Any
from urllib.parse import quote

from tests.contract.asking import Ask
from tests.contract.cases import (
    api_http,
    api_proxies,
    api_refused,
    api_toxics,
    bandwidth,
    changing,
    ending,
    latency,
    layer,
    plain,
    shaping,
    timeout,
    together,
)
from tests.contract.rig import rigged
from tests.contract.servers import HOST, Server, Start

Answers = dict[str, Any]  # what answers.json holds: a case's name and what came of it
SIDE_BY_SIDE = 4
BROKEN_OFF = "broken off"
REQUESTS = api_proxies.CASES | api_refused.CASES | api_toxics.CASES | api_http.CASES
_MODULES = (plain, changing, timeout, bandwidth, latency, ending, shaping, together, layer)
SCENARIOS = {name: story for module in _MODULES for name, story in module.scenario.by_name.items()}
NAMES = (*REQUESTS, *api_http.RAW_CASES, *SCENARIOS)
BAD_BODY = "bad request body"
_ADDRESS = re.compile(r"127\.0\.0\.1:\d{4,5}")


def play(start: Start) -> Answers:
    assert len(NAMES) == len(set(NAMES)), "two cases of one name"
    return {**_play_requests(start), **_play_scenarios(start, SCENARIOS)}


def _play_requests(start: Start) -> Answers:
    answers: Answers = {}
    with start() as server, socket.create_server((HOST, 0)) as busy:
        for name, requests in REQUESTS.items():
            _delete_all(server)
            answers[name] = _converse(server, requests, busy.getsockname()[1])
        for name, octets in api_http.RAW_CASES.items():
            answers[name] = server.ask_raw(octets)
    return answers


def _play_scenarios(start: Start, names: Iterable[str]) -> Answers:
    left: SimpleQueue[str] = SimpleQueue()
    for name in names:
        left.put(name)
    answers: Answers = {}

    def work() -> None:
        while not left.empty():
            with start() as server:
                while not left.empty() and not server.crashed():
                    name = left.get()
                    answers[name] = _see(server, name)

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        workers = [pool.submit(work) for _ in range(SIDE_BY_SIDE)]
    for worker in workers:
        worker.result()
    return answers


def _see(server: Server, name: str) -> list[str]:
    seen: list[str] = []
    try:
        with rigged(server) as rig:
            seen.extend(SCENARIOS[name](rig))
    except Exception as error:
        seen.append(f"{BROKEN_OFF}: {type(error).__name__}: {error}")
    return seen


def _converse(server: Server, requests: list[Ask], busy: int) -> list[Answers]:
    known = {f"{HOST}:{busy}": "<busy>"}
    said = []
    for ask in requests:
        body = ask.body
        for address, name in known.items():
            body = body.replace(name, address)
        answer = asdict(server.ask(ask.method, ask.path, body, ask.headers))
        answer["body"] = _normal(answer["body"], known)
        said.append(answer)
    return said


def _normal(body: str, known: dict[str, str]) -> str:
    for address in _ADDRESS.findall(body):
        known.setdefault(address, f"<{len(known)}>")
    return comparable(_ADDRESS.sub(lambda match: known[match[0]], body))


def comparable(body: str) -> str:
    """The body without what is left out (rule 3); plain text stays as it is."""
    try:
        document = json.loads(body, parse_int=_number, parse_float=_number)
    except ValueError:
        return body
    match document:
        case {"status": "500", "error": _}:
            document["error"] = "…"
        case {"error": str(text)} if text.startswith(BAD_BODY):
            document["error"] = BAD_BODY
        case {"version": _}:
            document["version"] = "…"
    return json.dumps(document)


def _number(text: str) -> str:
    """As precise as a 32-bit float, which the real server keeps a toxicity in."""
    return f"{float(text):.6g}"


def _delete_all(server: Server) -> None:
    for name in json.loads(server.ask("GET", "/proxies").body):
        server.ask("DELETE", f"/proxies/{quote(name, safe='')}")
