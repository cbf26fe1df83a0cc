"""The toxics, each a pure state machine.

- `flow`: what passes through a pipe, what can happen to it, what a pipe is.
- `latency`, `bandwidth`, `slicer`: hold bytes and let them go later.
- `closing`: those that drop bytes, and end the connection: `timeout`, `reset_peer`, `limit_data`,
  `slow_close`.
- `noop`: touches nothing.
- `catalogue`: all of them by name.
"""
