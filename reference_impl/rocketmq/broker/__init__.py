"""A broker, which is a master or a slave (docs/behaviour/rocketmq.md 3.2 to 6).

server       its connections, what they ask, what it does by itself
parts        what its parts know of each other
registering  it tells name servers that it is there

Messages:
sending      what producers send
misbehaving  what a broker does wrong with them, where it is told to
committing   when that counts as sent
pulling      what consumers pull, and wait for
retrying     what they send back
delays       what has to wait
transactions halves, what was decided about them, and who is asked
copies       a master's slaves
following    a slave's master
tables       what a slave copies beside the log

Who and what:
topics       its topics
groups       groups of consumers, as configured
clients      who is connected, and what he wants
membership   heartbeats, farewells, and what others are told of them
offsets      how far groups have consumed
progress     how far they are behind
meters       how many messages it took and gave out, and at what rate
locks        who has a queue for himself
asking       what is asked of queues and messages
operating    what operators, tools and slaves ask
"""
