"""What the agent can do, one module a subject.

`answers`   how a call fails, and how blocking work gets a deadline
`network`   clock, connect, http
`encrypted` what connections with TLS need, by the address that is dialled
`ends`      how what was asked of a broker ended
`foreign`   greetings and questions in whatever protocol: words or code that are handed in
`canaries`  the canaries by name, in whatever protocol
`proxies`   proxy and toxic calls

Of families of brokers, named by what their systems declare:
`amqp`      one AMQP connection, spoken by hand, and declare
`amqp_trial` what a run does with a queue, tried once
`amqp_canaries`, `words`  canaries on it: those that ask, those that speak
`remoting`  one question, a greeting and canaries in RocketMQ's protocol
"""
