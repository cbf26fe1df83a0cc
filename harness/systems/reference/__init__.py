"""What the systems of reference_impl share: their processes on this machine and their images.

servers     RocketMQ's name servers and brokers as subprocesses
containers  the images, and RocketMQ's servers in containers
core/       pure: configurations, and the shapes of layout files
"""
