"""Faults of a broker's resources.

`alarm`   the kind
`rules`   what proves that a broker is in alarm, and is no more
"""
