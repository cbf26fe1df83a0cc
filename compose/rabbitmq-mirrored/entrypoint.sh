#!/bin/bash
# Writes the node's configuration and cookie, then becomes the broker.
#
# MQPROOF_COOKIE, and what configuration.sh takes, come from the compose file.
set -euo pipefail

/usr/local/bin/configuration.sh /etc/rabbitmq/rabbitmq.conf.template \
    >/etc/rabbitmq/rabbitmq.conf

# The command line tools warn on every call where the cookie is in the environment.
cookie=/var/lib/rabbitmq/.erlang.cookie
(umask 077 && printf '%s' "$MQPROOF_COOKIE" >"$cookie.new" && mv -f "$cookie.new" "$cookie")
chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
unset MQPROOF_COOKIE
export RABBITMQ_NODENAME="rabbit@$(hostname -s)" HOME=/var/lib/rabbitmq
cd "$HOME"
# Debian's wrapper starts the broker by `su` and would be process 1: as it handles no SIGTERM, the
# kernel would drop the signal, and no stop would be graceful. The broker's own script passes it on.
exec setpriv --reuid=rabbitmq --regid=rabbitmq --init-groups /usr/lib/rabbitmq/bin/rabbitmq-server
