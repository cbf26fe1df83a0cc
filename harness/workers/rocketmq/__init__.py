"""RocketMQ seen from outside: what we ask of name servers and brokers ourselves.

`connection`  one connection: questions, answers by number, a deadline on everything
`watch`       what a name server's answers come to, one after another (pure)
`prober`      the worker that asks every name server, twice a second and more
`audit`       one broker's log read from its start, and its consumers' offsets
"""
