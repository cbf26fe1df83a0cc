"""Faults: their kinds, how each is done and undone, and how it is verified from outside.

core/          faults as values, and the rules over them; pure
kinds/         the kinds, a module each, and those of other packages
executors/     executors and witnesses of each deployment
proxy/         the embedded proxy, which speaks Toxiproxy's interface

performing     carries actions out, with one receipt
rhythm         plays a fault that comes and goes
verification   queries a witness until a kind's rules are satisfied
polling        questions with deadlines, repeated until they are answered
toxiproxy      a Toxiproxy server, driven over HTTP
self_connections   connections that TCP made with themselves
"""
