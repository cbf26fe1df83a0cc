"""The dispatch of requests to their handlers.

1. A handler returns the answer, or None where there is none yet, or never will be.
2. A request that cannot be understood is answered, and costs no other peer anything.
3. The real name server says nothing to a code that it does not know, and its client waits for
   three seconds; this one says so, as the real broker does.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.command import Command, answer
from reference_impl.rocketmq.remoting.fields import BadRequest, Fields

_NONE: Mapping[str, object] = MappingProxyType({})


class IncomingRequest(msgspec.Struct, frozen=True):
    """A request, and where it came from."""

    connection: int
    command: Command
    fields: Fields

    def answer(
        self,
        code: int = Code.SUCCESS,
        remark: str = "",
        body: bytes = b"",
        fields: Mapping[str, object] = _NONE,
    ) -> Command:
        texts = {name: str(value) for name, value in fields.items()}
        return answer(self.command, code, remark, texts, body)

    def answer_fields(self, **fields: object) -> Command:
        """Success, with fields alone."""
        return self.answer(fields=fields)

    def json(self, document: object) -> Command:
        """Success, with a document."""
        return self.answer(body=msgspec.json.encode(document))


Handler = Callable[[IncomingRequest], Command | None]


def serve(handlers: Mapping[int, Handler], connection: int, command: Command) -> Command | None:
    """The answer, if there is one now. To what is oneway there is none."""
    incoming = IncomingRequest(connection, command, Fields(command.header.fields))
    handler = handlers.get(command.header.code)
    if handler is None:
        remark = f" request type {command.header.code} not supported"
        response: Command | None = incoming.answer(Code.REQUEST_CODE_NOT_SUPPORTED, remark)
    else:
        try:
            response = handler(incoming)
        except BadRequest as reason:
            response = incoming.answer(Code.SYSTEM_ERROR, str(reason))
    return None if command.is_oneway else response
