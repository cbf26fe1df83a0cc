"""A compose document with anchors: the same document, in fewer lines."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.deploy.compose.core.anchored import anchored

KEYS = st.sampled_from(["image", "init", "environment", "yes", "<", "1"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab:{}*&'< #\n", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=4,
)
LABELS = st.dictionaries(
    st.sampled_from(["experiment", "role", "host"]), st.text("ab", max_size=2)
)


def made() -> st.SearchStrategy[dict[str, Any]]:
    own = st.dictionaries(KEYS, VALUES, max_size=4)
    return st.builds(lambda document, labels: {**document, "labels": labels}, own, LABELS)


DOCUMENTS = st.fixed_dictionaries(
    {
        "services": st.dictionaries(st.text("xyz", min_size=1, max_size=3), made(), min_size=1),
        "networks": st.dictionaries(st.sampled_from(["servers", "clients"]), made()),
        "volumes": st.dictionaries(st.sampled_from(["v1", "v2"]), made()),
    }
)


def read(text: str) -> dict[str, Any]:
    document = yaml.safe_load(text)
    return {key: value for key, value in document.items() if not key.startswith("x-")}


@given(DOCUMENTS)
def test_anchors_change_no_document(document: dict[str, Any]) -> None:
    assert read(anchored(document, lambda name: name[0])) == document


def test_shared_parts_of_services_are_written_once() -> None:
    broker = {"image": "broker:1", "restart": "no", "labels": {"owner": "me"}}
    services = {
        "a-one": {**broker, "hostname": "one"},
        "a-two": {**broker, "hostname": "two"},
        "proxy": {"image": "proxy:1", "restart": "no", "labels": {"owner": "me", "role": "proxy"}},
    }
    document = {
        "services": services,
        "networks": {},
        "volumes": {"v": {"labels": {"owner": "me"}}},
    }
    text = anchored(document, lambda name: name.partition("-")[0])
    assert text == (
        "x-labels: &labels\n"
        "  owner: me\n"
        "x-all: &all\n"
        "  restart: 'no'\n"
        "x-a: &a\n"
        "  <<: *all\n"
        "  image: broker:1\n"
        "services:\n"
        "  a-one:\n"
        "    <<: *a\n"
        "    labels: {<<: *labels}\n"
        "    hostname: one\n"
        "  a-two:\n"
        "    <<: *a\n"
        "    labels: {<<: *labels}\n"
        "    hostname: two\n"
        "  proxy:\n"
        "    <<: *all\n"
        "    image: proxy:1\n"
        "    labels: {<<: *labels, role: proxy}\n"
        "networks: {}\n"
        "volumes:\n"
        "  v: {labels: *labels}\n"
    )
