"""The receivers of bench/integrations.py: a web server that counts and keeps connections.

usage: python bench/receivers.py
Prints its port. A POST to /hang is never answered, others with 204. A GET answers with JSON: for
each path the number of requests, and whether the events came in the order of their IDs.
"""

import asyncio
import json
import re
from collections import defaultdict

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ID = re.compile(rb'"id":(\d+)')
_ids: dict[str, list[int]] = defaultdict(list)


class Receiver(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._data = transport, b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end]
            length = _LENGTH.search(head)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self._data) < size:
                return
            body, self._data = self._data[end + 4 : size], self._data[size:]
            method, path, _ = head.split(b" ", 2)
            self._answer(method.decode(), path.decode(), body)

    def _answer(self, method: str, path: str, body: bytes) -> None:
        if method == "GET":
            content = json.dumps({path: [len(ids), _is_sorted(ids)] for path, ids in _ids.items()})
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(content)}\r\n\r\n"
            self._transport.write((head + content).encode())
            return
        event_id = _ID.search(body)
        _ids[path].append(int(event_id[1]) if event_id else 0)
        if path != "/hang":
            self._transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


def _is_sorted(ids: list[int]) -> bool:
    """Without the second requests of an event."""
    unique = list(dict.fromkeys(ids))
    return unique == sorted(unique)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Receiver, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
