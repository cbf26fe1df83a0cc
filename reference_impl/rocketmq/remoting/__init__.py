"""The remoting protocol (docs/behaviour/rocketmq.md 2): octets in, commands out, and back.

command      a request or an answer, as one frame; its header in the binary form
frames       commands out of a stream of octets
header       its header
header_json  its header as JSON
fields       a request's fields, and what is wrong with them
codes        numbers of requests and answers
connections  the connections of a server: what they said last, and when
serving      who carries out which request
outbox       what a server has to say
proofs       that a request comes from who knows a secret, where there is one
calls        requests of a server's own, and what came of them
"""
