"""Signatures of requests are those of RocketMQ's own client.

Captured from AclClientRPCHook of rocketmq-acl 4.9.7, in a JVM.
"""

from harness.workers.remoting.signature import signed


def test_signature_is_that_of_the_java_client() -> None:
    fields = {"topic": "mqproof_r1_orders", "queueId": "3", "a": "writers", "Z": "ü"}
    found = signed(fields, b"hello \xff", "rocketmq2", "12345678")
    assert found == {
        **fields,
        "AccessKey": "rocketmq2",
        "Signature": "qKWIKT/8BA/IErOhP6VYtoFfO44=",
    }


def test_request_without_fields_or_body_is_signed() -> None:
    found = signed({}, b"", "rocketmq2", "12345678")
    assert found == {"AccessKey": "rocketmq2", "Signature": "Ou1T58RIcyZWaTIwzkhJZWn/Zvs="}
