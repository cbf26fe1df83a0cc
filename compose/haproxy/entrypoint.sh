#!/bin/bash
# Writes the configurations, then runs HAProxy and, of a pair, Keepalived: if one ends, all ends.
#
# What configuration.sh takes comes from the compose file.
set -euo pipefail

configuration.sh haproxy /etc/haproxy/haproxy.cfg.template >/etc/haproxy/haproxy.cfg
haproxy -db -f /etc/haproxy/haproxy.cfg &
if [[ -n ${MQPROOF_FLOATING:-} ]]; then
    read -r _ device _ < <(ip -o -4 addr show to "$MQPROOF_OWN")
    configuration.sh keepalived /etc/keepalived/keepalived.conf.template "$device" \
        >/etc/keepalived/keepalived.conf
    # A container that was killed keeps them, and its next life gives the same numbers to others:
    # "daemon is already running".
    rm -f /run/keepalived.pid /run/vrrp.pid
    keepalived --dont-fork --log-console --vrrp &
fi
trap 'kill $(jobs -p); wait; exit 0' TERM
wait -n
