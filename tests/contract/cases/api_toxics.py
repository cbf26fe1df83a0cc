"""Toxics as the HTTP interface tells, changes and removes them."""

from tests.contract.asking import LATENCY, OFF, A, Cases, delete, get, patch, post

TOXICITIES = ["7", "-1", "0", "0.1", "0.333333333333", "1e-5", "1e20", "3.4028234663852886e38"]


def _toxics(**attributes: str) -> Cases:
    """Each type with its defaults, and with all its attributes, is told in the same way."""
    cases = {}
    for kind, text in attributes.items():
        bare = f'{{"type":"{kind}"}}'
        full = f'{{"name":"n","type":"{kind}","stream":"upstream","attributes":{text}}}'
        requests = [post("/proxies", A), post("/proxies/a/toxics", bare)]
        requests += [post("/proxies/a/toxics", full), get("/proxies/a/toxics"), get("/proxies/a")]
        cases[f"a {kind} toxic is told with all its attributes"] = requests
    return cases


CASES: Cases = {
    "toxics are told upstream first, each way in the order of their making": [
        post("/proxies", A),
        post("/proxies/a/toxics", '{"name":"d1","type":"latency"}'),
        post("/proxies/a/toxics", '{"name":"u1","type":"latency","stream":"upstream"}'),
        post("/proxies/a/toxics", '{"name":"d2","type":"noop"}'),
        post("/proxies/a/toxics", '{"name":"u2","type":"timeout","stream":"UpStream"}'),
        get("/proxies/a/toxics"),
        delete("/proxies/a/toxics/d1"),
        get("/proxies/a"),
    ],
    "a toxic's name is taken once in its proxy, whatever its direction": [
        post("/proxies", A),
        post("/proxies", A.replace('"a"', '"b"')),
        post("/proxies/a/toxics", '{"name":"t","type":"latency"}'),
        post("/proxies/a/toxics", '{"name":"t","type":"latency","stream":"upstream"}'),
        post("/proxies/b/toxics", '{"name":"t","type":"latency"}'),
    ],
    "a toxic is told, deleted and gone": [
        post("/proxies", A),
        post("/proxies/a/toxics", LATENCY),
        get("/proxies/a/toxics/latency_downstream"),
        delete("/proxies/a/toxics/latency_downstream"),
        get("/proxies/a/toxics/latency_downstream"),
        delete("/proxies/a/toxics/latency_downstream"),
        post("/proxies/a/toxics/latency_downstream", "{}"),
        get("/proxies/a/toxics"),
    ],
    "no proxy, no toxics": [
        get("/proxies/a/toxics"),
        post("/proxies/a/toxics", LATENCY),
        get("/proxies/a/toxics/t"),
        delete("/proxies/a/toxics/t"),
        post("/proxies/a/toxics/t", "{}"),
    ],
    "an update changes attributes and toxicity, nothing else": [
        post("/proxies", A),
        post("/proxies/a/toxics", LATENCY),
        post("/proxies/a/toxics/latency_downstream", '{"attributes":{"jitter":7}}'),
        patch("/proxies/a/toxics/latency_downstream", '{"toxicity":0.5}'),
        post(
            "/proxies/a/toxics/latency_downstream",
            '{"name":"n","type":"timeout","stream":"upstream","attributes":{"timeout":9}}',
        ),
        post("/proxies/a/toxics/latency_downstream", '{"attributes":null,"toxicity":null}'),
        get("/proxies/a"),
    ],
    "a toxic of a disabled proxy": [
        post("/proxies", OFF),
        post("/proxies/off/toxics", LATENCY),
        post("/proxies/off/toxics/latency_downstream", '{"toxicity":0}'),
        get("/proxies/off"),
        delete("/proxies/off/toxics/latency_downstream"),
    ],
    "toxicity is not checked, unless it is beyond a 32-bit float": [
        post("/proxies", A),
        *(
            post(
                "/proxies/a/toxics",
                f'{{"name":"t{i}","type":"latency","toxicity":{text}}}',
            )
            for i, text in enumerate(TOXICITIES)
        ),
        post("/proxies/a/toxics", '{"type":"latency","toxicity":1e39}'),
        post("/proxies/a/toxics", '{"type":"latency","toxicity":"1"}'),
    ],
    "bad updates are refused": [
        post("/proxies", A),
        post("/proxies/a/toxics", LATENCY),
        *(
            post("/proxies/a/toxics/latency_downstream", body)
            for body in (
                "",
                "[]",
                '{"toxicity":"x"}',
                '{"attributes":3}',
                '{"attributes":[]}',
                '{"attributes":{"latency":"x"}}',
            )
        ),
        get("/proxies/a/toxics"),
    ],
    "reset enables every proxy and removes every toxic": [
        post("/proxies", A),
        post("/proxies/a/toxics", LATENCY),
        post("/proxies/a/toxics", '{"type":"timeout","stream":"upstream"}'),
        post("/proxies/a", '{"enabled":false}'),
        post("/reset"),
        get("/proxies"),
    ],
    "reset of a proxy whose address is in use is an error": [
        post("/proxies", OFF.replace("127.0.0.1:1", "<busy>")),
        post("/reset"),
        get("/proxies"),
    ],
} | _toxics(
    bandwidth='{"rate":1}',
    latency='{"latency":2,"jitter":3}',
    limit_data='{"bytes":4}',
    noop='{"latency":5}',
    reset_peer='{"timeout":6}',
    slicer='{"average_size":7,"size_variation":8,"delay":9}',
    slow_close='{"delay":10}',
    timeout='{"timeout":11}',
)
