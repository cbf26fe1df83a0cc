#!/bin/bash
# Whether the broker answers AMQP: a protocol header out, a method frame (type 1) back.
#
# Bash alone: a command line tool of the broker costs a whole CPU second a call.
exec 3<>/dev/tcp/127.0.0.1/5672 || exit 1
printf 'AMQP\x00\x00\x09\x01' >&3
IFS= read -r -t 3 -N 1 -u 3 first && [[ $first == $'\x01' ]]
