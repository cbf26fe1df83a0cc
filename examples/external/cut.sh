#!/bin/sh
# Cuts this host's network by iptables, and gives it back. Runs as root on the broker's machine, or
# in a container with NET_ADMIN that shares its network.
#
#   cut.sh partition PEER...   drop packets from and to these addresses
#   cut.sh black-hole          drop every packet, except loopback and ssh (port 22)
#   cut.sh heal                remove it; harmless if nothing is cut
#   cut.sh verify              say yes (0) if it is in force, or no (1); 126: unknown
#
# Existing connections are cut, too: iptables sees every packet of IPv4. Packets of IPv6 still pass.
set -u
chain=MQPROOF_CUT

begin() {
    iptables -w -N "$chain" 2>/dev/null || iptables -w -F "$chain"
}

link() {
    for way in INPUT OUTPUT; do
        iptables -w -C "$way" -j "$chain" 2>/dev/null || iptables -w -I "$way" -j "$chain" || exit 1
    done
}

what=${1:-}
[ $# -gt 0 ] && shift
case $what in
partition)
    [ $# -gt 0 ] || { echo "partition: name the other brokers' addresses" >&2; exit 2; }
    begin || exit 1
    for peer in "$@"; do
        iptables -w -A "$chain" -s "$peer" -j DROP || exit 1
        iptables -w -A "$chain" -d "$peer" -j DROP || exit 1
    done
    link
    ;;
black-hole)
    begin || exit 1
    iptables -w -A "$chain" -i lo -j RETURN || exit 1
    iptables -w -A "$chain" -o lo -j RETURN || exit 1
    iptables -w -A "$chain" -p tcp --dport 22 -j RETURN || exit 1
    iptables -w -A "$chain" -p tcp --sport 22 -j RETURN || exit 1
    iptables -w -A "$chain" -j DROP || exit 1
    link
    ;;
heal)
    for way in INPUT OUTPUT; do
        while iptables -w -D "$way" -j "$chain" 2>/dev/null; do :; done
    done
    iptables -w -F "$chain" 2>/dev/null && iptables -w -X "$chain"
    iptables -w -S "$chain" >/dev/null 2>&1 && exit 1
    exit 0
    ;;
verify)
    iptables -w -S INPUT >/dev/null || exit 126
    iptables -w -C INPUT -j "$chain" 2>/dev/null && iptables -w -C OUTPUT -j "$chain" 2>/dev/null
    status=$?
    [ $status -eq 0 ] && echo yes || echo no
    exit $status
    ;;
*)
    echo "usage: cut.sh partition PEER... | black-hole | heal | verify" >&2
    exit 126
    ;;
esac
