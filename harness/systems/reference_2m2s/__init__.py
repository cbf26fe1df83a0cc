"""The reference of RocketMQ's masters and slaves, with the configuration of the real ones.

declaration  the system
containers   the image, and what runs of it
processes    the same servers as subprocesses of this machine
operator     makes a slave a master there
settings     the configuration of each server
layouts      the shape of a layout file
foreground   two groups to play with
"""
