"""The reference of RocketMQ's DLedger groups, with the configuration of the real ones.

declaration  the system
processes    the servers as subprocesses of this machine; containers are those of reference-2m2s
layouts      the shape of a layout file
settings     the configuration of each server
foreground   a group to play with
"""
