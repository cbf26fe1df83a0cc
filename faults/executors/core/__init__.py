"""PURE: commands and packets as text and octets, and how replies to them are read.

packet_filter      the shell commands that make, count and remove our chains
netem              the shell commands that make, show and remove our queueing disciplines
echo_packets       packets of echo requests, and how their report is read
peer_canary        a word on the link by which a host reaches a peer
client_processes   the commands that signal clients in their container
"""
