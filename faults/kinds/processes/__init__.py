"""Faults of brokers' processes, by signals.

`kill`, `stop`, `freeze`   the kinds
`rules`                    what proves that processes were killed, stopped, frozen, and are back
`everywhere`               looks at every place that a fault means
`commanded`                looks at hosts that are not ours, where a user's commands do it
`commanded_rules`          what proves it there
"""
