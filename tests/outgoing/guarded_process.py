"""Tries every way to the port in its argument, with the guard on, and prints each outcome.

Run as a program: an audit hook can't be removed from a process. Names resolve by a table.
"""

from __future__ import annotations

import asyncio
import json
import os
import smtplib
import socket
import subprocess
import sys
import threading
import urllib.request

from sigservice.outgoing.addresses import AddressPolicy
from sigservice.outgoing.connection_guard import ConnectionGuard

PORT = int(sys.argv[1])
NAMES = {
    "private.example": [["127.0.0.1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "mixed.example": [["203.0.113.1", "127.0.0.1"]],
    "rebind.example": [["203.0.113.1"], ["127.0.0.1"]],
    "allowed.example": [["127.0.0.1"]],
    "proxy.example": [["127.0.0.1"]],
}


def resolve(host, port, *args, **more):
    answers = NAMES.get(host)
    if answers is None:
        return numeric(host, port, *args, **more)
    addresses = answers.pop(0) if len(answers) > 1 else answers[0]
    return [numeric(address, port, 0, socket.SOCK_STREAM)[0] for address in addresses]


def connect(address, family=socket.AF_INET, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as sock:
        sock.settimeout(2)
        sock.connect(address)


def connect_ex(address):
    with socket.socket() as sock:
        code = sock.connect_ex(address)
        if code:
            raise OSError(code, os.strerror(code))


def send_to(address, data=b"refused"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(data, address)


def send_message(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"refused"], [], 0, address)


def in_a_thread():
    errors = []

    def run():
        try:
            connect(("127.0.0.1", PORT))
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


async def by_asyncio():
    await asyncio.open_connection("private.example", PORT)


def by_name(name):
    with socket.create_connection((name, PORT), 0.2) as sock:
        sock.sendall(name.encode())


def by_a_name_that_changes():
    socket.getaddrinfo("rebind.example", PORT)
    by_name("rebind.example")


ATTEMPTS = {
    "connect": lambda: connect(("127.0.0.1", PORT)),
    "connect_ex": lambda: connect_ex(("127.0.0.1", PORT)),
    "the C class": lambda: __import__("_socket").socket().connect(("127.0.0.1", PORT)),
    "a short form": lambda: connect(("127.1", PORT)),
    "a decimal form": lambda: connect(("2130706433", PORT)),
    "a hexadecimal form": lambda: connect(("0x7f000001", PORT)),
    "an octal form": lambda: connect(("0177.0.0.1", PORT)),
    "zero": lambda: connect(("0.0.0.0", PORT)),
    "no host": lambda: connect(("", PORT)),
    "a name in connect": lambda: connect(("localhost", PORT)),
    "IPv6": lambda: connect(("::1", PORT), socket.AF_INET6),
    "mapped IPv4": lambda: connect(("::ffff:127.0.0.1", PORT), socket.AF_INET6),
    "a zone": lambda: connect(("fe80::1", PORT, 0, 1), socket.AF_INET6),
    "a unix socket": lambda: connect("/tmp/x", socket.AF_UNIX),
    "sendto": lambda: send_to(("127.0.0.1", PORT)),
    "sendto a name": lambda: send_to(("private.example", PORT)),
    "sendmsg": lambda: send_message(("127.0.0.1", PORT)),
    "a thread": in_a_thread,
    "asyncio": lambda: asyncio.run(by_asyncio()),
    "urllib": lambda: urllib.request.urlopen(f"http://private.example:{PORT}/"),
    "smtplib": lambda: smtplib.SMTP("private.example", PORT, local_hostname="x"),
    "a private name": lambda: by_name("private.example"),
    "a mapped name": lambda: by_name("mapped.example"),
    "a name with two addresses": lambda: by_name("mixed.example"),
    "a name that changes": by_a_name_that_changes,
    "a program": lambda: subprocess.run(["/bin/true"]),
    "a shell": lambda: os.system("true"),
    "a fork": os.fork,
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "through a proxy to a private name": lambda: guard.check_host("private.example", 80),
    "through a proxy to an unknown name": lambda: guard.check_host("x.invalid", 80),
    "the proxy": lambda: by_name("proxy.example"),
    "another port of the proxy": lambda: connect(("127.0.0.1", PORT - 1)),
    "an allowed name": lambda: by_name("allowed.example"),
    "sendto an allowed name": lambda: send_to(("allowed.example", PORT), data=b"allowed"),
}

numeric = socket.getaddrinfo
socket.getaddrinfo = resolve
guard = ConnectionGuard(AddressPolicy(True, ("allowed.example",)), [("proxy.example", PORT)])
guard.install()
outcomes = {}
for name, attempt in ATTEMPTS.items():
    before = len(guard.refusals)
    try:
        attempt()
        outcomes[name] = "done"
    except Exception as error:  # noqa: BLE001  each way has errors of its own
        outcomes[name] = "refused" if len(guard.refusals) > before else repr(error)
sys.stdout.write(json.dumps(outcomes))
