"""Four deployments, which start clusters or find running ones, and what they share.

compose/       containers, by Docker Compose
local/         subprocesses on this machine
external/      brokers that already run
standing/      clusters that `mqproof up` keeps

__main__       prints a compose file
beside         systems side by side in one Compose project, with published ports
doctor         checks that this machine has what mqproof needs
loopback_block  free addresses of this machine, and ports at them
engine         the Docker engine: how it is reached
images         the images that a deployment needs
users_images   images and versions that a user names, checked before a run
own_clients    the image of workers with clients from other packages
pull           pulling an image within a deadline
jars           the jars that clients and servers declare
java_tools     where Maven and Java run
labels         marks by which everything that mqproof made is found again
place_commands  commands beside a process in a container, or instead of one that is down
dead_brokers   whether a silent place holds no broker any more
by_hand_files  the files of clusters by hand
by_hand_layouts  their layouts, as they were started
by_hand_lines  the JSON lines between their keeper and a command line
owner          which process made something
"""
