"""PURE: what the embedded proxy does with octets, and what its interface answers.

toxics/    what passes on one direction of one connection, a module a toxic
chain      the toxics of one direction, one after another
model      proxies and toxics, as values
registry   the rules over them
api        the interface, from requests to commands and back
bodies     the bodies of its requests and replies
addresses  the addresses in them
"""
