"""RocketMQ seen from outside: what we ask of name servers and brokers ourselves.

`connection`  one connection: questions, answers by number, a deadline on everything
`voters`      who is asked who leads, and what
`prober`      the worker that asks name servers and voters, twice a second and more
`audit`       one broker's log read from its start, and its consumers' offsets
`ways`        the ways of deliveries that only RocketMQ has
"""
