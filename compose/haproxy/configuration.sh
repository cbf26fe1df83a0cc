#!/bin/bash
# Prints a configuration: the template $2 of haproxy or keepalived ($1), filled in from the compose
# file's words; for keepalived with the device $3.
#
# MQPROOF_BROKERS (name:address with blanks between); of a pair MQPROOF_OWN, MQPROOF_PEER,
# MQPROOF_FLOATING (addresses) and MQPROOF_PRIORITY.
set -euo pipefail

template=$(<"$2")
case $1 in
haproxy)
    servers=
    for broker in $MQPROOF_BROKERS; do
        servers+="    server ${broker%%:*} ${broker#*:}:5672"$'\n'
    done
    template=${template//@SERVERS@/$servers}
    ;;
keepalived)
    template=${template//@DEVICE@/$3}
    template=${template//@OWN@/$MQPROOF_OWN}
    template=${template//@PEER@/$MQPROOF_PEER}
    template=${template//@FLOATING@/$MQPROOF_FLOATING}
    template=${template//@PRIORITY@/$MQPROOF_PRIORITY}
    ;;
esac
printf '%s\n' "$template"
