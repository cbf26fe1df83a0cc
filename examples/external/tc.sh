#!/bin/sh
# Cuts this host's network by tc, and gives it back: for machines without iptables. Runs as root on
# the broker's machine, or in a container with NET_ADMIN that shares its network. mqproof's makers
# tried it with a stand-in for tc alone.
#
#   tc.sh partition PEER...   drop packets from and to these addresses
#   tc.sh black-hole          drop every packet, except loopback and ssh (port 22)
#   tc.sh heal                remove it; harmless if nothing is cut
#   tc.sh verify              say yes (0) if it is in force, or no (1); 126: unknown
#
# The kernel needs sch_ingress, cls_u32 and act_gact. Filters of `clsact` drop packets in both
# directions and leave the machine's own queueing alone. netem would not do: it takes the place of
# that queueing, and it meets only what the host sends. Packets of IPv6 still pass. If an interface
# appears meanwhile, it has no filter, and verify says no.
set -u
pref=47110    # of our filters alone: heal removes whatever has it

interfaces() {
    for path in /sys/class/net/*; do
        one=${path##*/}
        [ -d "$path" ] && [ "$one" != lo ] && echo "$one"
    done
}

drop() { # INTERFACE ingress|egress MATCH...
    one=$1 way=$2
    shift 2
    tc filter add dev "$one" "$way" protocol ip pref "$pref" u32 match "$@" action drop
}

clear() {
    for one in $(interfaces); do
        for way in ingress egress; do
            tc filter del dev "$one" "$way" protocol ip pref "$pref" 2>/dev/null
        done
    done
}

has() { # INTERFACE ingress|egress: 0 filters of ours are there, 1 none is, 126 unknown
    queues=$(tc qdisc show dev "$1") || return 126
    case $queues in *clsact*) ;; *) return 1 ;; esac
    filters=$(tc filter show dev "$1" "$2" pref "$pref") || return 126
    [ -n "$filters" ]
}

begin() {
    clear
    for one in $(interfaces); do
        tc qdisc show dev "$one" | grep -q clsact || tc qdisc add dev "$one" clsact || return 1
    done
}

what=${1:-}
[ $# -gt 0 ] && shift
case $what in
partition)
    [ $# -gt 0 ] || { echo "partition: name the other brokers' addresses" >&2; exit 2; }
    begin || exit 1
    for each in $(interfaces); do
        for peer in "$@"; do
            drop "$each" ingress ip src "$peer" || exit 1
            drop "$each" egress ip dst "$peer" || exit 1
        done
    done
    ;;
black-hole)
    begin || exit 1
    for each in $(interfaces); do
        for way in ingress egress; do
            for side in sport dport; do
                tc filter add dev "$each" "$way" protocol ip pref "$pref" u32 \
                    match ip protocol 6 0xff match ip "$side" 22 0xffff action pass || exit 1
            done
            drop "$each" "$way" u32 0 0 || exit 1
        done
    done
    ;;
heal)
    clear
    for each in $(interfaces); do
        for way in ingress egress; do
            has "$each" "$way"
            [ $? -eq 1 ] || exit 1
        done
    done
    exit 0
    ;;
verify)
    each=
    for each in $(interfaces); do
        for way in ingress egress; do
            has "$each" "$way"
            case $? in 0) ;; 1) echo no; exit 1 ;; *) exit 126 ;; esac
        done
    done
    [ -n "$each" ] || exit 126
    echo yes
    ;;
*)
    echo "usage: tc.sh partition PEER... | black-hole | heal | verify" >&2
    exit 126
    ;;
esac
