"""The reference of RocketMQ's masters and slaves: they are told what the real ones are told.

declaration  the system
containers   the image, and what runs of it
layouts      the shape of a layout file
foreground   two groups to play with
"""
