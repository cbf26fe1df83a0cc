"""What mqproof must know of aio-pika before anything runs."""

from harness.plan.clients.amqp import AMQP
from harness.plan.clients.declaration import CAN, Client

CLIENT = Client(
    name="aio-pika",
    title="aio-pika's connect, without its reconnecting",
    family=AMQP,
    constructor="mqproof_aio_pika.client:AioPika",
    answers={
        "confirm": CAN,
        "async": CAN,
        "orderly": CAN,
        "acknowledge": CAN,
        "remaining": CAN,
        "one attempt": CAN,
        "acknowledge nothing": CAN,
        "slow consumers": CAN,
        "virtual host": CAN,
        "tls": "aiormq checks the name of the address that it dials, which is the proxy's",
        "unlimited prefetch": CAN,
        "transient": CAN,
        "lost": CAN,
        # It cannot do anything that is not listed here.
    },
    body_max=None,
    body_why="",
    own_threads=False,
    reconnect_s=0,
    drained_by="aio-pika",
    packages=(("aio-pika", "9.5"),),
    jars=None,
    look=None,
    how_to_get="pip install ./examples/aio-pika",
)
