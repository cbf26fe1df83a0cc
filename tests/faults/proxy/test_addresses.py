"""Addresses: what is read is what is written. What is refused is the contract's matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faults.proxy.addresses import AddressError, Split, join, port_number, split


@given(st.ip_addresses().map(str), st.integers(0, 65_535))
def test_a_joined_address_splits_into_its_parts(host: str, port: int) -> None:
    parts = split(join(host, port))
    assert (parts.host, port_number(parts.service)) == (host, port)


def test_an_address_without_a_host_or_without_anything_is_allowed() -> None:
    assert split(":80") == Split("", "80")
    assert split("") == Split("", "")
    assert port_number("") == 0
    assert join("", 0) == ":0"


@given(st.text(alphabet="a1:[].", max_size=8))
def test_no_text_crashes_it(text: str) -> None:
    try:
        seen = str(split(text))
    except AddressError as error:
        seen = str(error)
    assert seen.startswith(("Split(", f"address {text}: "))


@pytest.mark.parametrize(("service", "number"), [("0", 0), ("65535", 65_535), ("http", None)])
def test_a_port_is_a_number_or_a_name(service: str, number: int | None) -> None:
    assert port_number(service) == number
