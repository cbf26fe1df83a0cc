"""A RocketMQ cluster, or the reference of one, that somebody else runs.

declaration  the parts that all systems of the family share
file     the shape of a topology file, and the layout that it becomes
brokers  asked, held against its file, and rid of what was ours
door     where clients come in
trial    what a run does with a topic, tried once by `doctor`
core/    what is pure: what its file says, held against what it says of itself
"""
