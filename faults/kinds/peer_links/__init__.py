"""Faults of the links between hosts, done by the proxy that they pass.

`slow_peers`   the kind
`rules`        what proves that links are slow, and quick again
"""
