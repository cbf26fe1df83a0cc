"""What stands in for a broker that speaks AMQP.

tiny_amqp      the one fake AMQP server: queues in memory, and trouble on demand
fake_agent     an agent whose answers of management APIs are written down
stand_in_node  a node of a `local` deployment around it: management API, peers, switches
"""
