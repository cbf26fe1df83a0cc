"""Faults of clients: the processes that publish and consume.

`client_crash`, `client_freeze`   the kinds
`rules`                           what proves that clients died, stand still or run on
`queries`                         queries to several clients at once
"""
