"""Addresses: what is read is what is written, and what is no address is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.proxy.core.addresses import AddressError, join, split


@given(st.ip_addresses().map(str), st.integers(0, 65_535))
def test_a_joined_address_splits_into_its_parts(host: str, port: int) -> None:
    assert split(join(host, port)) == (host, port)


def test_an_address_without_a_host_or_without_anything_is_allowed() -> None:
    assert split(":80") == ("", 80)
    assert split("") == split(":") == ("", 0)
    assert join("", 0) == ":0"


@pytest.mark.parametrize(
    "text", ["nowhere", "a:65536", "a:-1", "a:http", "a:1:2", "[::1", "[::1]", "[::1]x:1", "a[b:1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AddressError, match="expected HOST:PORT"):
        split(text)


@given(st.text(alphabet="a1:[].²", max_size=8))
def test_no_text_crashes_it(text: str) -> None:
    with contextlib.suppress(AddressError):
        host, port = split(text)
        assert host in text
        assert 0 <= port <= 65_535
