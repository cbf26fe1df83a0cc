"""The toxics, each a pure state machine.

- `flow`: what passes through a pipe, what can happen to it, what a pipe is.
- `latency`, `bandwidth`, `slicer`: hold bytes and let them go later.
- `timeout`, `reset_peer`, `limit_data`: drop bytes and end the connection.
- `slow_close`, `noop`: touch only the end, or nothing.
- `catalogue`: all of them by name.
"""
