"""Bodies that the HTTP interface refuses, in the words that it has for what is wrong."""

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
            "[::1]:1:2",
            "a[b:1",
            "a]b:1",
        )
    },
)

BAD_BODIES = refused(
    "/proxies",
    {
        f"a body that is refused: {body!r}": body
        for body in (
            "",
            " \n",
            "nonsense",
            "nul",
            "nulx",
            "tru\n",
            "[1]",
            "7",
            '"text"',
            "true",
            "null",
            "{}",
            "{",
            '{"name"',
            '{"name":',
            '{"name":"a"',
            '{"name":"a",}',
            '{"name":"a" "b"}',
            '{"name" "a"}',
            "{'name':1}",
            "{name:1}",
            "{\"name\":'a'}",
            '{"name":"a\nb"}',
            '{"name":"\\x41"}',
            '{"name":"\\u12g4"}',
            '{"name":01}',
            '{"name":-}',
            '{"name":1.}',
            '{"name":1.x}',
            '{"name":1e}',
            '{"name":1e+}',
            '{"name":[1 2]}',
            '{"name":[1,]}',
            '{"name":]}',
            '{"name":\xff}',
            '{"name":\x00}',
            '{"name":\x7f}',
            '{"name":\\}',
            '{"name":3}',
            '{"name":[]}',
            '{"name":{}}',
            '{"name":true,"upstream":4}',
            '{"enabled":1}',
            '{"enabled":"yes"}',
            '{"Logger":3}',
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
