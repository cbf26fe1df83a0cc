"""Proxies as the HTTP interface tells, changes and refuses them."""

from tests.contract.asking import LATENCY, LOCAL, OFF, A, Cases, delete, get, patch, post

PROXIES: Cases = {
    "no proxies are an empty object": [get("/proxies")],
    "the version is told": [get("/version")],
    "a proxy is created, told and deleted": [
        post("/proxies", A),
        get("/proxies/a"),
        get("/proxies"),
        delete("/proxies/a"),
        get("/proxies/a"),
        delete("/proxies/a"),
    ],
    "proxies are told in the order of their names": [
        post("/proxies", A.replace('"a"', '"b"')),
        post("/proxies", A),
        post("/proxies", A.replace('"a"', '"B"')),
        get("/proxies"),
    ],
    "a disabled proxy keeps the address that was asked for": [post("/proxies", OFF)],
    "a disabled proxy needs no address": [
        post("/proxies", '{"name":"off","upstream":"u:1","enabled":false}')
    ],
    "a name is taken once": [post("/proxies", A), post("/proxies", A), get("/proxies")],
    "of two fields of one name the last one wins": [
        post("/proxies", '{"name":"a","name":"b","listen":"127.0.0.1:0","upstream":"u:1"}')
    ],
    "unknown fields are ignored": [post("/proxies", A[:-1] + ',"colour":{"r":[1]}}')],
    "null leaves a field as it is": [
        post("/proxies", '{"name":"a",' + LOCAL + ',"upstream":"u:1","enabled":null}')
    ],
    "text is answered as it was given": [
        post(
            "/proxies", '{"name":"<&>\\u2028\\n\\u0001\\"","upstream":"\\u00e9","enabled":false}'
        ),
        get("/proxies/%3C&%3E%E2%80%A8%0A%01%22"),
    ],
    "an address in use is an error, and the name stays free": [
        post("/proxies", A.replace("127.0.0.1:0", "<busy>")),
        get("/proxies/a"),
        post("/proxies", A),
    ],
    "an address of another machine is an error": [
        post("/proxies", A.replace("127.0.0.1:0", "192.0.2.1:4000"))
    ],
    "the metrics are off": [get("/metrics")],
}

UPDATES: Cases = {
    "an update changes what it names": [
        post("/proxies", A),
        post("/proxies/a", '{"upstream":"127.0.0.1:2"}'),
        patch("/proxies/a", '{"upstream":"127.0.0.1:3","name":"b"}'),
        get("/proxies"),
    ],
    "an update of nothing changes nothing": [post("/proxies", A), post("/proxies/a", "{}")],
    "a proxy is disabled and enabled at the same address": [
        post("/proxies", A),
        post("/proxies/a", '{"enabled":false}'),
        post("/proxies/a", '{"enabled":false}'),
        post("/proxies/a", '{"enabled":true}'),
        post("/proxies/a", '{"enabled":true}'),
    ],
    "a proxy that moves gets another address": [
        post("/proxies", A),
        post("/proxies/a", "{" + LOCAL + "}"),
    ],
    "a disabled proxy that moves stays disabled": [
        post("/proxies", OFF),
        post("/proxies/off", '{"listen":"127.0.0.1:2"}'),
        post("/proxies/off", "{" + LOCAL + ',"enabled":true}'),
    ],
    "a move to an address in use leaves the proxy disabled there": [
        post("/proxies", A),
        post("/proxies/a", '{"listen":"<busy>"}'),
        get("/proxies/a"),
    ],
    "enabling at an address in use is an error": [
        post("/proxies", OFF.replace("127.0.0.1:1", "<busy>")),
        post("/proxies/off", '{"enabled":true}'),
        get("/proxies/off"),
    ],
    "a move to what is no address is refused, and nothing changes": [
        post("/proxies", A),
        post("/proxies/a", '{"listen":"nowhere"}'),
        get("/proxies/a"),
    ],
    "an update of a wrong type is refused, and nothing changes": [
        post("/proxies", A),
        post("/proxies/a", '{"enabled":"no"}'),
        get("/proxies/a"),
    ],
    "no proxy, no update": [post("/proxies/a", "{}"), patch("/proxies/a", "nonsense")],
}

POPULATE: Cases = {
    "many proxies at once": [
        post("/populate", f"[{A},{OFF}]"),
        get("/proxies"),
    ],
    "no proxies at once": [post("/populate", "[]")],
    "the same again is kept, even if it is to be disabled": [
        post("/proxies", A),
        post("/populate", f'[{A[:-1].replace("127.0.0.1:0", "<1>")},"enabled":false}}]'),
    ],
    "another one of that name replaces it, toxics and all": [
        post("/proxies", A),
        post("/proxies/a/toxics", LATENCY),
        post("/populate", f"[{A}]"),
        get("/proxies/a/toxics"),
    ],
    "a missing field anywhere makes none of them": [
        post("/populate", f'[{A},{{"name":"b"}}]'),
        post("/populate", f'[{A},{{"upstream":"b"}}]'),
        get("/proxies"),
    ],
    "what was made before an address in use stays": [
        post("/populate", f'[{A},{{"name":"b","listen":"<busy>","upstream":"u:1"}},{OFF}]'),
        get("/proxies"),
    ],
    "one that cannot be replaced is left disabled": [
        post("/proxies", A),
        post("/populate", '[{"name":"a","listen":"<busy>","upstream":"u:1"}]'),
        get("/proxies"),
    ],
    "bad bodies are told as JSON": [
        post("/populate", ""),
        post("/populate", "{}"),
        post("/populate", "[3]"),
        post("/populate", '[{"name":3}]'),
        post("/populate", '[{"enabled":3}]'),
        post("/populate", "[{]"),
    ],
}

CASES = {**PROXIES, **UPDATES, **POPULATE}
