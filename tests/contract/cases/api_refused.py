"""Bodies and addresses that the HTTP interface refuses: with which status, in which field."""

from tests.contract.asking import A, post, refused

BAD_ADDRESSES = refused(
    "/proxies",
    {
        f"an address that is refused: {address}": A.replace("127.0.0.1:0", address)
        for address in (
            "nowhere",
            "127.0.0.1",
            "127.0.0.1:65536",
            "127.0.0.1:-1",
            "127.0.0.1:nosuchservice",
            "::1:80",
            "[::1",
            "[::1]",
            "[::1]x:1",
            "a[b:1",
        )
    },
)

BAD_BODIES = refused(
    "/proxies",
    {
        f"a body that is refused: {body!r}": body
        for body in (
            "",
            "nonsense",
            "[1]",
            "7",
            '"text"',
            "{}",
            "{",
            '{"name":"a",}',
            '{"name":01}',
            '{"name":"\\x41"}',
            '{"name":3}',
            '{"name":{}}',
            '{"name":true,"upstream":4}',
            '{"enabled":1}',
            '{"enabled":"yes"}',
            '{"name":""}',
            '{"name":"a","upstream":""}',
            '{"upstream":"u:1"}',
        )
    },
)

BAD_TOXICS = refused(
    "/proxies/a/toxics",
    {
        f"a toxic that is refused: {body}": body
        for body in (
            "",
            "{}",
            "[]",
            '{"type":"nosuch"}',
            '{"type":"Latency"}',
            '{"type":3}',
            '{"stream":"sideways"}',
            '{"type":"latency","stream":""}',
            '{"type":"latency","stream":7}',
            '{"type":"latency","attributes":3}',
            '{"type":"latency","attributes":"x"}',
            '{"type":"latency","attributes":[1]}',
            '{"type":"latency","attributes":{"latency":"x","jitter":"y"}}',
            '{"type":"latency","attributes":{"latency":1.5}}',
            '{"type":"latency","attributes":{"latency":1e2}}',
            '{"type":"latency","attributes":{"latency":true}}',
            '{"type":"latency","attributes":{"latency":{}}}',
            '{"type":"latency","attributes":{"latency":9223372036854775808}}',
            '{"type":"slicer","attributes":{"delay":"x"}}',
            '{"type":"slicer","attributes":{"average_size":0.1}}',
            '{"type":"nosuch","attributes":{"latency":"x"}}',
        )
    },
    post("/proxies", A),
)

CASES = {**BAD_ADDRESSES, **BAD_BODIES, **BAD_TOXICS}
