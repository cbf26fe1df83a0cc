"""The reference of RocketMQ's masters and slaves: they are told what the real ones are told.

declaration  the system
containers   the image, and what runs of it
processes    the same servers as subprocesses of this machine
operator     makes a slave a master there
settings     what each server is told
layouts      the shape of a layout file
foreground   two groups to play with
"""
