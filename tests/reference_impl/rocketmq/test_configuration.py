"""Configuration files of the real one's form."""

import pytest

from reference_impl.rocketmq import configuration
from reference_impl.rocketmq.settings import BrokerTimes, Flush, Role, over


def test_a_file_of_the_real_one_is_understood() -> None:
    settings = configuration.broker(
        "brokerName=broker-a\n# a comment\n\nbrokerId = 1\nbrokerRole=SLAVE\n"
        "flushDiskType=SYNC_FLUSH\nbrokerIP1=rkt1\nlistenPort=10921\nhaListenPort=10922\n"
        "namesrvAddr=rkt1:9876; rkt2:9877\nautoCreateTopicEnable=false\n"
        "registerNameServerPeriod=10000\nfileReservedTime=48\n"
    )
    assert (settings.broker_role, settings.flush_disk_type) == (Role.SLAVE, Flush.SYNC_FLUSH)
    assert (settings.address, settings.ha_address) == ("rkt1:10921", "rkt1:10922")
    assert settings.name_servers == ["rkt1:9876", "rkt2:9877"]
    assert settings.times.register_name_server_period == 10_000
    assert not settings.auto_create_topic_enable


def test_the_last_value_of_a_repeated_key_counts() -> None:
    assert configuration.name_server("listenPort=1\nlistenPort=2\n").listen_port == 2


def test_one_factor_shortens_every_timer() -> None:
    settings = configuration.broker("brokerName=a\ncompression=10\nhaReconnect=400\n")
    assert settings.times.register_name_server_period == 3_000
    assert settings.times.ha_reconnect == 40
    assert over(BrokerTimes(), 1e9).delay_idle == 1


def test_unresolvable_names_are_configured_with_their_addresses() -> None:
    settings = configuration.broker(
        "brokerName=a\nhostAddresses=rkt1=127.70.1.11, rkt2=127.70.1.12,\n"
    )
    assert settings.addresses == {"rkt1": "127.70.1.11", "rkt2": "127.70.1.12"}
    assert configuration.broker("brokerName=a").addresses == {}


def test_idle_time_is_configured_in_seconds() -> None:
    settings = configuration.name_server("serverChannelMaxIdleTimeSeconds=12\n")
    assert settings.times.server_channel_max_idle_time == 12_000


def test_all_mistakes_are_reported_at_once_with_their_places() -> None:
    with pytest.raises(ValueError, match="no such key") as settings:
        configuration.broker(
            "brokerRole=KING\nlistenPort=many\nnothing\nbrokerNam=x\ncompression=0\n"
            "serverChannelMaxIdleTimeSeconds=soon\n"
        )
    text = str(settings.value)
    for part in (
        "line 3: 'nothing' is no key=value",
        "compression: '0' is no number above 0",
        "brokerNam: no such key",
        "brokerName: it has to be there",
        "brokerRole: 'KING'",
        "listenPort: 'many'",
        "serverChannelMaxIdleTime: 'soon'",
    ):
        assert part in text
