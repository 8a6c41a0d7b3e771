"""Holds streams open and tells when all of them have received an event.

usage: stream_readers.py PORT TOKEN COUNT
Prints `open` when all have received their first event, and for each later event ID that all have
received, the ID and the times (time.time()) at which the first and the last one received it.
"""

import re
import selectors
import socket
import sys
import time
import urllib.request

ID = re.compile(rb"(?:^|\n)id: (\d+)\n")


def main(port: int, token: str, count: int) -> None:
    selector = selectors.DefaultSelector()
    last_id = read_event_id(port, token)  # so that not each stream begins with all flags
    request = (
        f"GET /api/client/streaming HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n"
        f"Last-Event-ID: {last_id}\r\n\r\n"
    )
    for _ in range(count):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.sendall(request.encode())
        tail = b""
        while not ID.search(tail):  # the first event
            data = sock.recv(262_144)
            if not data:
                sys.exit("a stream ended")
            tail = tail[-100:] + data
        selector.register(sock, selectors.EVENT_READ, [b""])
    print("open", flush=True)
    arrivals: dict[int, list[float]] = {}
    while True:
        for key, _ in selector.select():
            data = key.fileobj.recv(262_144)
            if not data:
                sys.exit("a stream ended")
            at = time.time()
            text = key.data[0] + data
            for match in ID.finditer(text):
                arrivals.setdefault(int(match[1]), []).append(at)
            key.data[0] = text[text.rfind(b"\n") :][-100:]
        for event_id, times in list(arrivals.items()):
            if len(times) >= count:
                print(event_id, times[0], times[-1], flush=True)
                del arrivals[event_id]


def read_event_id(port: int, token: str) -> str:
    url = f"http://127.0.0.1:{port}/api/client/delta"
    request = urllib.request.Request(url, headers={"Authorization": token})
    with urllib.request.urlopen(request) as response:
        return response.headers["ETag"].strip('"')


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
