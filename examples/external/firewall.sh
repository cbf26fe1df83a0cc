#!/bin/sh
# Cuts a broker's subnet by a network ACL of AWS, and gives it back. Written after the command line's
# reference; mqproof's makers have not tried it on AWS.
#
#   firewall.sh cut SUBNET ACL    the subnet gets this ACL, which denies what is to be cut
#   firewall.sh heal SUBNET ACL   the subnet gets its usual ACL again
#   firewall.sh has SUBNET ACL    0: it has this ACL; 1: it has another; 126: unknown
#
# Use ACLs, not security groups: these are stateful, and connections that they know live on.
set -u
what=${1:-} subnet=${2:-} acl=${3:-}
[ -n "$acl" ] || { echo "usage: firewall.sh cut|heal|has SUBNET ACL" >&2; exit 126; }

of_subnet() {
    aws ec2 describe-network-acls --filters "Name=association.subnet-id,Values=$subnet" \
        --query "$1" --output text
}

case $what in
cut | heal)
    association=$(of_subnet \
        "NetworkAcls[0].Associations[?SubnetId=='$subnet'].NetworkAclAssociationId | [0]") || exit 1
    aws ec2 replace-network-acl-association --association-id "$association" \
        --network-acl-id "$acl"
    ;;
has)
    found=$(of_subnet 'NetworkAcls[0].NetworkAclId') || exit 126
    [ "$found" = "$acl" ]
    ;;
*) exit 126 ;;
esac
