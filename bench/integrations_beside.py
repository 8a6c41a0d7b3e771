"""The API and the messages of integrations beside unleash-server 8.2.0 from npm.

usage: python bench/integrations_beside.py [--directory PATH]
--directory: where unleash-server is installed, or will be (without it, a temporary directory).

Sends the same requests to both and compares status and shape (members and types) of the answers.
Then it makes the same changes in both, and compares what integrations of each provider send to a
recorder. They may differ in what REASONS says; anything else is printed, and the exit status is 1.
App for Slack isn't compared: its URL can't be changed there. Texts are our own words.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import re
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from addon_requests import ADDONS, EVENTS, PARAMETERS, build_steps, make_addon
from service import Service, run_service
from unleash import find_problem, install, run_unleash

CACHE_SECONDS = 65  # unleash-server reads integrations once a minute
WAIT_SECONDS = 60
FLAGS = "/api/admin/projects/default/features"
TEMPLATE = '{"t": "{{event.type}}", "event": {{{eventJson}}}, "text": "{{eventMarkdown}}"}'
WORDS = ("archived", "enabled", "strategy", "tag", "created")  # of the sentences about EVENTS
# Deliberate differences: a pattern of the whole line that is printed, and why.
REASONS = {
    r".*\.(name|deliveries|disabledReason): only here": "what pages and action sets need",
    r"[^.]*\.createdAt: only here": "the answer to POST lacks it there",
    r"create (slack|teams): 201 here, 400 there": "an import, and Mattermost, need them",
    r"provider .*\.(howTo|alerts|installation): only there": "documentationUrl leads to the text",
    r"provider .*\[\]\.(description|placeholder): only .*": "optional, in our own words",
    r"provider .*\.displayName: .*": "a label in our own words",
    r"provider webhook.parameters.secret: only here": "signatures",
    r"mask of what isn't set: 400 here, 200 there": "there the parameter vanishes",
    r"keep a secret, other host: 400 here, 200 there": "a secret would go to another server",
    r"another provider: 400 here, 200 there": "there a secret is shown as another parameter",
    r"events of a deleted one: 404 here, 200 there": "it isn't found",
    r"mask of a new secret: 400 here, 201 there": "there the mask becomes the secret",
    r".*: 40[04] here, 500 there": "bad input is no fault of the server",
    r"unknown host: 201 here, 500 there": "a name is resolved when it is used",
    r"(enabled|events|description) as (text|numbers?): 400 here, 201 there": "no conversion",
    r"(no|unknown) (events?|project|environment): 400 here, 201 there": "it would never fire",
    r"URL with (a password|port 22): 400 here, 201 there": "the table of docs/integrations.md",
    r"(template|headers|line break|secret) .*: 400 here, 201 there": "every request would fail",
    r"parameter as boolean.parameters.authorization: str here, bool there": "it is a text, masked",
    r"unknown parameter.parameters.more: only there": "unknown members are ignored",
    r"description null.description: NoneType here, str there": "there null becomes empty",
    r".* headers\.(webhook-id|webhook-timestamp|user-agent): only here": "Standard Webhooks",
    r".* headers\.(accept-encoding: only here|connection: only there)": "of the HTTP library",
    r"/webhook .*\.(groupId|groupType): only there": "optional there too",
    r"/webhook .*\.(data|preData)\b.*": "the audit log here stores more",
    r"/datadog.*\.date_happened: only here": "the time of the event",
    r"/new-relic feature-created.createdAt: int here, str there": "there data overwrites it",
    r"/new-relic .*: str here, (\[\]|\{\}) there": "New Relic drops nested values",
    r"/new-relic [^.]*\.\w+: only here": "project, and the audit log here stores more",
}

Messages = dict[str, list[tuple[dict[str, str], Any]]]  # headers and body by path


def find_shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: find_shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [find_shape(value[0])] if value else []
    return type(value).__name__


def compare(name: str, ours: Any, theirs: Any) -> Iterator[str]:
    """What differs between two shapes; an empty list equals every list."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            if key not in ours or key not in theirs:
                yield f"{name}.{key}: only {'here' if key in ours else 'there'}"
            else:
                yield from compare(f"{name}.{key}", ours[key], theirs[key])
    elif isinstance(ours, list) and isinstance(theirs, list):
        if ours and theirs:
            yield from compare(f"{name}[]", ours[0], theirs[0])
    elif ours != theirs:
        yield f"{name}: {ours} here, {theirs} there"


def call(service: Service, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    headers = {"Authorization": service.token}
    if body is not None:
        headers["Content-Type"] = "application/json"
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    return response.status, json.loads(text) if text[:1] in (b"{", b"[") else text.decode()


def ask_both(services: list[Service], url: str) -> Iterator[str]:
    """What differs between the answers."""
    ids = [0, 0]
    for step in build_steps(url):
        answers = []
        for place, service in enumerate(services):
            path = step.path.format(id=ids[place])
            answers.append(call(service, step.method, path, step.body))
            if answers[place][0] == 201:
                ids[place] = answers[place][1]["id"]
        (status, ours), (their_status, theirs) = answers
        if status != their_status:
            yield f"{step.name}: {status} here, {their_status} there"
        elif step.name == "list":
            yield from compare_lists(ours, theirs)
        elif status >= 400:
            yield from compare(f"{step.name}: error", *(ours["name"], theirs["name"]))
        else:
            yield from compare(step.name, find_shape(ours), find_shape(theirs))


def compare_lists(ours: Any, theirs: Any) -> Iterator[str]:
    yield from compare("list.addons", *(find_shape(one["addons"]) for one in (ours, theirs)))
    providers = [{one["name"]: one for one in answer["providers"]} for answer in (ours, theirs)]
    yield from compare("providers", *(dict.fromkeys(one, "") for one in providers))
    for name in providers[0].keys() & providers[1].keys():
        our, their = (one[name] for one in providers)
        yield from compare(f"provider {name}", find_shape(our), find_shape(their))
        for event in sorted(set(their["events"]) - set(our["events"])):
            yield f"provider {name}.events: {event} only there"
        yield from compare(f"provider {name}.parameters", *map(describe_parameters, (our, their)))


def describe_parameters(provider: Any) -> dict[str, Any]:
    return {
        one["name"]: {key: one[key] for key in ("displayName", "type", "required", "sensitive")}
        for one in provider["parameters"]
    }


@contextlib.contextmanager
def run_recorder() -> Iterator[tuple[str, Messages]]:
    """Its URL, and what it gets."""
    messages: Messages = defaultdict(list)

    class Recorder(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            try:
                content = json.loads(body)
            except ValueError:
                content = body.decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            messages[self.path].append((headers, content))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", messages
    finally:
        server.shutdown()


def create_integrations(service: Service, url: str) -> int:
    """One of each provider, and those with a template; returns how many."""
    for addon in call(service, "GET", ADDONS)[1]["addons"]:
        call(service, "DELETE", f"{ADDONS}/{addon['id']}")
    names = {name: name for name in PARAMETERS}
    names |= {f"{name} with a template": name for name in ("webhook", "datadog")}
    for name, kind in names.items():
        path = name.replace(" ", "-")
        body = make_addon(kind, f"{url}/{path}")
        if name != kind:
            body["parameters"] |= {"bodyTemplate": TEMPLATE}
        status, answer = call(service, "POST", ADDONS, body)
        if status == 400:  # there, only a PUT makes one that is deprecated
            webhook = make_addon("webhook", f"{url}/{path}")
            id = call(service, "POST", ADDONS, webhook)[1]["id"]
            status, answer = call(service, "PUT", f"{ADDONS}/{id}", body)
        assert status < 300, answer
    return len(names)


def make_changes(service: Service) -> None:
    """Each of EVENTS, once."""
    for method, path, body in (
        ("POST", FLAGS, {"name": "checkout", "description": 'Say "hi"', "type": "release"}),
        ("POST", "/api/admin/features/checkout/tags", {"type": "simple", "value": "hello"}),
        (
            "POST",
            f"{FLAGS}/checkout/environments/development/strategies",
            {"name": "default", "title": "All", "parameters": {}, "constraints": []},
        ),
        ("POST", f"{FLAGS}/checkout/environments/development/on", {}),
        ("DELETE", f"{FLAGS}/checkout", None),
    ):
        status, answer = call(service, method, path, body)
        assert status < 300, (path, status, answer)


def compare_messages(ours: Messages, theirs: Messages) -> Iterator[str]:
    for path in sorted({*ours, *theirs}):
        pairs = []
        for messages in (ours, theirs):
            by_event = {find_event(body): (headers, body) for headers, body in messages[path]}
            pairs.append(by_event)
        yield from compare(f"{path} events", *(dict.fromkeys(one, "") for one in pairs))
        for event in pairs[0].keys() & pairs[1].keys():
            (our_headers, our), (their_headers, their) = (one[event] for one in pairs)
            name = f"{path} {event}"
            yield from compare(name, find_shape(our), find_shape(their))
            yield from compare(
                f"{name} headers",
                dict.fromkeys(our_headers, ""),
                dict.fromkeys(their_headers, ""),
            )
            for key in ("content-type", "authorization", "x-team", "content-encoding"):
                if our_headers.get(key) != their_headers.get(key):
                    yield f"{name} {key}: {our_headers.get(key)}, {their_headers.get(key)}"


def find_event(body: Any) -> str:
    """The type if the body has it, else a word of its sentence."""
    whole, sentence = json.dumps(body), str(body.get("text"))
    words = [event for event in EVENTS if event in whole]
    return (words or [word for word in WORDS if word in sentence] or [whole[:300]])[0]


def report(differences: list[str]) -> list[str]:
    """Prints the deliberate ones by their reason, and returns the others."""
    counts: dict[str, int] = dict.fromkeys(REASONS, 0)
    others = []
    for text in differences:
        patterns = [pattern for pattern in REASONS if re.fullmatch(pattern, text)]
        if patterns:
            counts[patterns[0]] += 1
        else:
            others.append(text)
    for pattern, count in counts.items():
        print(f"{count:4} {pattern}: {REASONS[pattern]}")
    return others


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory")
    arguments = parser.parse_args()
    if problem := find_problem():
        print(f"skipped: {problem}")
        return 0
    with contextlib.ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="sigservice-bench-")
        program = install(arguments.directory or stack.enter_context(temporary))
        ours = stack.enter_context(
            run_service(
                SERVICE_WEBHOOK_ALLOWED_HOSTS="127.0.0.1,localhost",
                SERVICE_URL="https://flags.test",
            )
        )
        theirs, _ = stack.enter_context(
            run_unleash(program, UNLEASH_ALLOW_PRIVATE_URL_IN_INTEGRATION="true")
        )
        services = [ours, theirs]
        recorders = [stack.enter_context(run_recorder()) for _ in services]
        differences = list(ask_both(services, f"{recorders[0][0]}/x"))
        for service, (url, _) in zip(services, recorders, strict=True):
            count = len(EVENTS) * create_integrations(service, url)
        time.sleep(CACHE_SECONDS)
        for service in services:
            make_changes(service)
        messages = [got for _, got in recorders]
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline and min(map(count_all, messages)) < count:
            time.sleep(1)
        differences += compare_messages(*messages)
    others = report(differences)
    print("\n".join(["", *others, f"{len(others)} differences without a reason"]))
    return 1 if others else 0


def count_all(messages: Messages) -> int:
    return sum(map(len, messages.values()))


if __name__ == "__main__":
    sys.exit(main())
