"""Paths, methods, headers, and bytes that are hardly HTTP."""

from tests.contract.asking import A, Ask, Cases, delete, get, patch, post

MOZILLA = (("User-Agent", "Mozilla/5.0"),)
CASES: Cases = {
    "unknown paths": [
        get("/"),
        get("/nope"),
        get("/proxies/"),
        get("/proxies/a/"),
        get("/proxies/a/toxics/t/u"),
        get("/proxies/a%2Fb"),
        get("/VERSION"),
        Ask("GET", "/nope", headers=MOZILLA),
    ],
    "methods that a path does not have": [
        post("/version"),
        get("/reset"),
        get("/populate"),
        Ask("PUT", "/proxies"),
        delete("/proxies"),
        Ask("PUT", "/proxies/a"),
        patch("/proxies/a/toxics", "{}"),
        Ask("OPTIONS", "/proxies"),
        Ask("HEAD", "/version"),
        Ask("PUT", "/version", headers=MOZILLA),
    ],
    "a query changes nothing": [get("/version?x=1&y"), get("/proxies?a")],
    "names are unescaped": [
        post("/proxies", A.replace('"a"', '"a b%"')),
        get("/proxies/a%20b%25"),
        get("/proxies/a+b%25"),
    ],
    "a browser is refused": [
        Ask("GET", "/version", headers=MOZILLA),
        Ask("POST", "/proxies", A, MOZILLA),
        get("/proxies"),
        Ask("GET", "/version", headers=(("User-Agent", "curl Mozilla/5.0"),)),
    ],
    "a body is JSON whatever its type says": [
        Ask("POST", "/proxies", A, (("Content-Type", "application/x-www-form-urlencoded"),))
    ],
    "a body may come without its length": [
        Ask(
            "POST",
            "/proxies",
            f"{len(A):x}\r\n{A}\r\n0\r\n\r\n",
            (("Transfer-Encoding", "chunked"),),
        )
    ],
}

_HOST = b"Host: x\r\n"
_CLOSE = b"Connection: close\r\n"
RAW_CASES: dict[str, bytes] = {
    "a request without a host": b"GET /version HTTP/1.1\r\n\r\n",
    "an old request without a host": b"GET /nope HTTP/1.0\r\n\r\n",
    "a line that is no request": b"hello\r\n\r\n",
    "a header without a colon": b"GET /version HTTP/1.1\r\n" + _HOST + b"bad\r\n\r\n",
    "a length that is none": b"POST /reset HTTP/1.1\r\n" + _HOST + b"Content-Length: x\r\n\r\n",
    "the connection ends when asked": b"GET /nope HTTP/1.1\r\n" + _HOST + _CLOSE + b"\r\n",
    "requests in one packet are answered in their order": (
        b"GET /nope HTTP/1.1\r\n" + _HOST + b"\r\n"
        b"POST /reset HTTP/1.1\r\n" + _HOST + b"Content-Length: 2\r\n\r\n{}"
        b"PUT /reset HTTP/1.1\r\n" + _HOST + _CLOSE + b"\r\n"
    ),
    "a client that waits for leave gets it": (
        b"POST /proxies HTTP/1.1\r\n"
        + _HOST
        + _CLOSE
        + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"
    ),
}
