"""AMQP 0-9-1 between a node and its clients (docs/behaviour/rabbitmq.md section 2): octets in,
octets out.

A client's connection:
connection       the process, its heartbeats, and what it deletes before its last word
opening          how it is opened, step by step
handshake        the offers, and a client's possible answers
blocking         when its client is not read from
channels         its channels, by number

A channel:
channel          the process; the following are its parts

Shared by both processes:
settings         the offers of a broker's tune, and its timeouts
session          a connection as its channels know it, and their outbox

codec/           octets of AMQP 0-9-1 from values, and back
rules/           rules without effects: routing, confirms, limits, errors
parts/           the parts of a channel: publishes, consumers, acknowledgements, declarations
"""
