"""The machine that tests run on: its time, disks and processes.

virtual_time    an event loop that skips its waiting
loops           a test that is a coroutine, within a limit
descriptors     the files that this process has open
disks           a small disk of its own, to be filled or made read-only
file_limit      a limit on the size of files, in this process or a child
dying           what ends the process that looks at it
ports           ports for servers that start later, or again
self_connections   a port that is dialled from itself
left_behind     what of a folder still runs
skipped         what one machine skipped, for another one to run
"""
