"""RocketMQ's remoting protocol, spoken by ourselves: values and octets, no socket and no clock.

`errors`     how octets and answers can be wrong
`json_text`  JSON as fastjson writes it, which is not always JSON
`headers`    the header of a command in both serialisations, as octets
`commands`   one command as one frame, and frames out of a stream
`requests`   what is asked: codes and fields
`signature`  who asks, to brokers with access control
`client_requests` what a client asks of brokers
`answers`    what was answered: a value, or a refusal with the broker's own words
`routes`     the cluster as a name server shows it, and how two views of it differ
`leaders`    who leads a group of brokers, by its members or by controllers
`tables`     what one broker tells of its topics, its consumers' offsets and itself
`records`    stored messages
`reading`    one queue read from its start to its end, answer by answer
`walking`    a whole log read so, where queues are not given
`holdings`   where a broker may hold messages of a topic, beside the topic's own queues
`watch`      the changes in the successive answers of one server, and when they happened
"""
