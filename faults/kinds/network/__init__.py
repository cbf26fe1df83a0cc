"""Faults of the network: packets between hosts, and of hosts to everybody.

`partition`, `flap`, `black_hole`, `reboot`   the kinds
`rules`             what proves that ways between hosts are cut, and whole again
`flap_rules`        what proves that they come and go
`isolation_rules`   what proves that a host is cut off from everybody
`commanded`         looks at hosts that are not ours, where a user's commands do it
`commanded_rules`   what proves it there
`ways`              how a way between hosts is looked at
`before`            that ways work before the fault
"""
