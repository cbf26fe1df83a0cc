"""Faults of clients: the processes that publish and consume.

`client_crash`, `client_freeze`   the kinds
`rules`                           what proves that clients died, stand still or run on
`asked`                           what is asked of several at once
"""
