"""The signature of a request, by which brokers with access control (ACL) know who sends it.

1. It covers the values of all fields, in the order of the fields' names, and the body behind them.
   It is HmacSHA1 with the secret key, as Base64. The access key is a field, and is signed, too.
2. Name servers ignore both fields, so every request may carry them.
"""

import base64
import hmac
from collections.abc import Mapping

ACCESS_KEY, SIGNATURE = "AccessKey", "Signature"


def signed(
    fields: Mapping[str, str], body: bytes, access_key: str, secret_key: str
) -> dict[str, str]:
    """Return the fields with the access key and the signature."""
    named = {**fields, ACCESS_KEY: access_key}
    content = "".join(named[name] for name in sorted(named)).encode() + body
    digest = hmac.new(secret_key.encode(), content, "sha1").digest()
    return {**named, SIGNATURE: base64.b64encode(digest).decode()}
