"""What the harness asks of its agent: the one process that dials brokers and proxies for it.

The agent runs beside the brokers, on their network and the clients'; the machine itself dials no
container address (docs/architecture.md, "Networks"). Same lines as workers (protocol.py): JSON,
the harness first.

Request  {"do": CALL, "id": 1, ...arguments}
Answer   {"say": "answer", "id": 1, "value": {...}}
         {"say": "error", "id": 1, "kind": "timeout|refused|http|proxy|bad", "text": "..."}
Calls run side by side; each has its own deadline, after which it answers with an error.

| call | arguments | value |
| --- | --- | --- |
| hello | | as a worker's hello, without an id |
| clock | | {"monotonic_ns", "suspended_ns", "boot_id"} |
| http | method, url, headers, body (text), timeout_s | {"status", "body"} |
| connect | host, port, timeout_s | {"connected", "seconds", "detail"}: TCP, closed at once |
| hear | host, port, timeout_s | {"answered", "seconds", "detail"}: what it says first, by itself |
| greet | host, port, says, begins, timeout_s | {"answered", "seconds", "detail", "end"}: an \
answer that begins so |
| greet_by | host, port, by, timeout_s | as greet: what the code `by` ("module:object") awaits |
| words_ask | host, port, says, timeout_s | {"text"}: the line that answers |
| module:object | those of the function | what it returns: a JSON object |
| proxy_create | name, upstream ("rmq1:5672"), listen ("", any) | {"port"}: the real one |
| proxy_list | | {"upstreams": {name: "address:port"}}: every proxy, also of others |
| proxy_delete | prefix | {"deleted": [names]} |
| proxy_enable | proxies, enabled | {"issued_ns", "returned_ns"}: disabling is FIN to all |
| toxic_add | proxies, toxic, type, streams, attributes | {"issued_ns", "returned_ns"} |
| toxic_remove | proxies, toxic | {"issued_ns", "returned_ns"}: what is not there is no error |
| toxic_reset | | {"issued_ns", "returned_ns"}: enables every proxy, removes every toxic |
| canary_open | canary, host, port, queue, by, timeout_s, speaks (false) | {}: then silent |
| canary_ask | canary, timeout_s | {"answered", "seconds", "detail", "end"}: passive declare |
| canary_say | canary, to, octets, rounds, timeout_s | and "octets" sent to `to`: speaking.py |
| canary_close | canary | {} |

A family of brokers, or a package, brings calls of its own: the agent imports `module:object`, an
`async def` function. Its parameters are the call's arguments. It raises CallError (answers.py).
mqproof's own are in agent_calls/: amqp:declare, amqp_trial:trial, remoting:ask.
"end" is "fin", "rst" or "refused" where the other side ended the connection, or took none.
A toxic on stream S is called `<toxic>_<S>`. `toxic_add` raises where any proxy refuses, having
removed what it added. One-shot for healing, when the agent's process is gone:
`python -m harness.workers.agent once '{"do": "toxic_remove", ...}'` prints one answer line.
"""
