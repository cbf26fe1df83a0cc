#!/bin/sh
# Writes the server's configuration, then becomes the server.
#
# MQPROOF_ROLE (name-server or broker) and MQPROOF_CONFIGURATION come from the compose file.
set -eu
data=/var/lib/rocketmq
mkdir -p "$data"
# A word of it is a line of the file; no value has blanks.
printf '%s\n' $MQPROOF_CONFIGURATION bindAddress=0.0.0.0 >"$data/server.conf"
# What an operator has changed since; of a key that stands twice the last word counts.
[ ! -f "$data/changed.conf" ] || cat "$data/changed.conf" >>"$data/server.conf"
cd "$data"
exec python3 -m reference_impl "$MQPROOF_ROLE" "$data/server.conf"
