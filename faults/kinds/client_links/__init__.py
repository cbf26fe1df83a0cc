"""Faults of clients' links to a host, done by the proxy that they pass.

`hang`, `close`, `refuse`, `reset`, `slow`, `cut_after`   the kinds
`rules`      what proves that links hang, were closed, refused or reset, and work again
`flow`       what proves that they are slow, or cut after so many bytes
`canaries`   what looks by canaries share
`ended`      looks at links that were ended
"""
