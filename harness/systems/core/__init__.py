"""What is pure and serves every system.

likeness  a layout file that is like a built-in one, with changes
services  the configuration of processes in containers
"""
