#!/bin/sh
# Writes the node's configuration, then becomes the node.
#
# MQPROOF_NODE comes from the compose file: the configuration whole, as JSON. It tells the cookie.
set -eu
mkdir -p /etc/mqproof
(umask 077 && printf '%s\n' "$MQPROOF_NODE" >/etc/mqproof/node.json)
unset MQPROOF_NODE
exec python3 -m reference_impl node /etc/mqproof/node.json
