#!/bin/bash
# Writes the node's configuration and cookie, then becomes the image's own entry point.
#
# MQPROOF_COOKIE, and what configuration.sh takes, come from the compose file.
set -euo pipefail

# Read after the image's own settings: of one that both have, this one counts.
/usr/local/bin/configuration.sh /etc/rabbitmq/rabbitmq.conf.template \
    >/etc/rabbitmq/conf.d/99-mqproof.conf

cookie=/var/lib/rabbitmq/.erlang.cookie
(umask 077 && printf '%s' "$MQPROOF_COOKIE" >"$cookie.new" && mv -f "$cookie.new" "$cookie")
chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
unset MQPROOF_COOKIE
export RABBITMQ_NODENAME="rabbit@$(hostname -s)"
exec docker-entrypoint.sh rabbitmq-server
