"""`sigservice apply`: brings files of definitions into a service, through its admin API."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.util import Timeout

from sigservice.commands.send import UsageError, print_error, read_token
from sigservice.commands.transfer import definition_files
from sigservice.commands.transfer.definition_files import Document, FileError
from sigservice.commands.transfer.remote_client import open_pool
from sigservice.errors import StartError
from sigservice.log import escape_line
from sigservice.outgoing.proxies import Proxies

MAX_BYTES = 5 * 1024 * 1024
MAX_WAIT_SECONDS = 60
EXIT_CHANGES = 3
_SIGNS = {"create": "+", "archive": "-"}
_VERBS = {
    "create": ("to create", "created"),
    "update": ("to change", "changed"),
    "adopt": ("to adopt", "adopted"),
    "archive": ("to archive", "archived"),
    "revive": ("to revive", "revived"),
}
Problem = dict[str, Any]


class RefusedError(Exception):
    """`body` is the error in the form of the service."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__(body["message"])
        self.body = body


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command to its parser."""
    parser.description = "Bring files of flags and definitions into a service: all or nothing."
    parser.epilog = (
        "The token is in SERVICE_TOKEN or --token-file: an admin token, or a personal token with "
        "the rights that the changes need. Exit codes: 0 applied, or nothing would change; "
        "1 refused; 2 invalid usage; 3 something would change (--check). docs/flags-as-code.md "
        "describes the files. Example: sigservice apply flags.yaml --check"
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="YAML or JSON; - is standard input"
    )
    parser.add_argument("--url", help="base URL of the service; default: SERVICE_URL")
    parser.add_argument("--token-file", metavar="FILE", help="file that contains only the token")
    parser.add_argument("--check", action="store_true", help="show the changes without writing")
    parser.add_argument("--source", metavar="NAME", help="what manages the flags of the files")
    parser.add_argument("--revision", metavar="TEXT", help="of the source, such as a commit")
    parser.add_argument(
        "--adopt", action="store_true", help="manage flags that exist and that nothing manages"
    )
    pruning = parser.add_mutually_exclusive_group()
    pruning.add_argument(
        "--prune",
        dest="prune",
        action="store_const",
        const="unused",
        help="archive flags of the source that the files no longer have and no SDK evaluates",
    )
    pruning.add_argument(
        "--prune-used",
        dest="prune",
        action="store_const",
        const="all",
        help="archive them also while SDKs evaluate them",
    )
    parser.add_argument("--revive", action="store_true", help="revive flags that are archived")
    parser.add_argument(
        "--skip-conflicts", action="store_true", help="leave out items that don't fit"
    )
    parser.add_argument(
        "--fingerprint", metavar="TEXT", help="apply only the plan that --check showed"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run_command(
    options: argparse.Namespace,
    environ: Mapping[str, str],
    *,
    sleep: Callable[[float], Any] = time.sleep,
) -> int:
    """The exit code."""
    documents: list[Document] = []
    try:
        if options.check and options.fingerprint:
            raise UsageError("--fingerprint can't be used with --check.")
        if not options.source and (options.revision or options.adopt or options.prune):
            raise UsageError("--revision, --adopt, --prune and --prune-used need --source.")
        url = options.url or environ.get("SERVICE_URL", "")
        if not url:
            raise UsageError("The URL of the service is missing: set SERVICE_URL or --url.")
        token = read_token(options.token_file, environ, "SERVICE_TOKEN")
        files = {name: _read_file(name) for name in options.files}
        documents = _read_documents(files)
        body = _make_body(options, documents)
        proxies = Proxies.from_environment(environ)
        answer = _send(url, token, body, proxies, sleep)
    except (UsageError, StartError) as error:
        print_error(str(error))
        return 2
    except RefusedError as error:
        _print_refusal(error.body, documents, as_json=options.json)
        return 1
    if options.json:
        print(msgspec.json.encode(answer).decode())
    else:
        _print_plan(answer)
    return EXIT_CHANGES if options.check and answer["changes"] else 0


def _read_file(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} could not be read: {error.strerror}") from None


def _read_documents(files: Mapping[str, bytes]) -> list[Document]:
    """Raises RefusedError with the first problem of each file."""
    documents: list[Document] = []
    problems: list[Problem] = []
    for name, data in files.items():
        try:
            documents += definition_files.read_documents(name, data)
        except FileError as error:
            problems.append({"message": error.message, "file": name, "line": error.line})
    if problems:
        raise RefusedError(_make_error(problems[0]["message"], problems))
    return documents


def _make_error(message: str, details: Sequence[Problem] = ()) -> dict[str, Any]:
    return {"name": "BadDataError", "message": message, "details": [*details]}


def _make_body(options: argparse.Namespace, documents: Sequence[Document]) -> bytes:
    """Raises RefusedError."""
    body = msgspec.json.encode(
        {
            "documents": [document.value for document in documents],
            "check": options.check,
            "source": options.source,
            "revision": options.revision,
            "adopt": options.adopt,
            "prune": options.prune,
            "revive": options.revive,
            "conflicts": "skip" if options.skip_conflicts else "refuse",
            "fingerprint": options.fingerprint,
        }
    )
    if len(body) > MAX_BYTES:
        raise RefusedError(_make_error("The files have more than 5 MB."))
    return body


def _send(
    url: str, token: str, body: bytes, proxies: Proxies, sleep: Callable[[float], Any]
) -> Any:
    """The answer; a busy service is asked again. Raises RefusedError."""
    settings: dict[str, Any] = {
        "headers": {"Authorization": token, "Content-Type": "application/json"},
        "timeout": Timeout(connect=10, read=120),
        "retries": False,
    }
    try:
        pool = open_pool(url, proxies, settings)
        waited = 0.0
        while True:
            response = pool.request("POST", f"{url.rstrip('/')}/api/admin/apply", body=body)
            pause = response.headers.get("Retry-After", "")
            seconds = float(pause) if pause.isdecimal() else 1.0
            waited += seconds
            if response.status not in (429, 503) or waited > MAX_WAIT_SECONDS:
                break
            sleep(seconds)
        answer = msgspec.json.decode(response.data)
    except HTTPError as error:
        text = f"The service can't be reached: {type(error).__name__}."
        if not isinstance(error, NewConnectionError | ConnectTimeoutError):
            text += " Whether the files were applied isn't known."
        raise RefusedError(_make_error(text)) from None
    except msgspec.DecodeError:
        text = f"The service answered {response.status} without JSON."
        raise RefusedError(_make_error(text)) from None
    if response.status != 200:
        is_error = isinstance(answer, dict) and "message" in answer
        text = f"The service answered {response.status}."
        raise RefusedError(answer if is_error else _make_error(text))
    return answer


def _print_refusal(
    body: Mapping[str, Any], documents: Sequence[Document], *, as_json: bool
) -> None:
    details = [_locate(detail, documents) for detail in body.get("details") or [body]]
    if as_json:
        print(msgspec.json.encode({**body, "details": details}).decode())
    for detail in details:
        parts = [detail.get("path", ""), detail["message"]]
        if "file" in detail:
            parts.insert(0, f"{detail['file']}:{detail['line']}")
        print(escape_line(": ".join(filter(None, parts))), file=sys.stderr)


def _locate(detail: Problem, documents: Sequence[Document]) -> Problem:
    """The detail with file, line and the path in the file, if it is about a document."""
    start, bracket, rest = detail.get("path", "").partition("documents[")
    number, _, path = rest.partition("]")
    if start or not bracket or not number.isdecimal() or int(number) >= len(documents):
        return detail
    document = documents[int(number)]
    line = document.find_line(path)
    return {**detail, "path": path.removeprefix("."), "file": document.file, "line": line}


def _print_plan(answer: Mapping[str, Any]) -> None:
    lines = []
    for change in answer["changes"]:
        lines.append(f"{_SIGNS.get(change['change'], '~')} {change['text']}")
        lines += [f"    {detail['text']}" for detail in change["details"]]
    for label in ("held", "skipped", "note"):
        entries = answer["notes" if label == "note" else label]
        lines += [f"{label}: {entry['text']}" for entry in entries]
    counts = answer["counts"]
    texts = [
        f"{counts[name]} {verbs[answer['applied']]}"
        for name, verbs in _VERBS.items()
        if counts[name]
    ]
    texts.append(f"{counts['unchanged']} unchanged")
    texts += [f"{counts[name]} {name}" for name in ("held", "skipped") if counts[name]]
    lines.append(", ".join(texts))
    if not answer["applied"]:
        lines.append(f"Fingerprint: {answer['fingerprint']}")
    for line in lines:
        print(escape_line(line))
