"""What the agent can do, one module a subject.

`answers`   how a call fails, and how blocking work gets a deadline
`network`   clock, connect, http
`amqp`      greet, declare, and canaries: one AMQP connection, spoken by hand
`remoting`  the same in RocketMQ's protocol
`foreign`   words that are handed in, of protocols that nobody here speaks
`canaries`  the canaries by name
`proxies`   proxy and toxic calls
"""
