"""A RocketMQ cluster, or the reference of one, that somebody else runs.

declaration  the parts that all systems of the family share
file     the shape of a topology file, and the layout that it becomes
own      what its topology file says that only this family understands
brokers  asked, held against its file, and rid of what was ours
door     where clients come in
looks    what its servers say of themselves, held against its file
trial    what a run does with a topic, tried once by `doctor`
"""
