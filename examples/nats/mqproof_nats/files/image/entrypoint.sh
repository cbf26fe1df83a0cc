#!/bin/sh
# Writes the server's configuration, then becomes the server.
#
# MQPROOF_NATS comes from the compose file: the configuration whole. It has the cluster's secret.
set -eu
mkdir -p /etc/nats
(umask 077 && printf '%s\n' "$MQPROOF_NATS" >/etc/nats/server.conf)
unset MQPROOF_NATS
exec nats-server -c /etc/nats/server.conf
