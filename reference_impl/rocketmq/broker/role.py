"""Whether a broker is a master or a slave now, and its number at name servers."""

from reference_impl.rocketmq.settings import BrokerSettings

MASTER_ID = 0


class CurrentRole:
    """As configured, where no election decides."""

    def __init__(self, config: BrokerSettings) -> None:
        self.is_slave = config.is_slave
        self.broker_id = config.broker_id
        self.epoch = 0  # of its master, where a control node decides

    def lead(self) -> None:
        self.is_slave, self.broker_id = False, MASTER_ID

    def follow(self, broker_id: int) -> None:
        self.is_slave, self.broker_id = True, broker_id
