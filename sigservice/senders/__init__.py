"""What the service knows of the systems that send signals. Each has a folder:

    sender.toml   options of its endpoint and of its action sets, in the format of the admin API
    setup.txt     how users configure the sender, with ENDPOINT_URL and SIGNAL_TOKEN
    samples/      payloads: firing.json, and resolved.json if the sender reports the end
    page.md       its page in docs/senders (sigservice/senders/docs.py), with the sections Here, The
                  payload, Limits and retries, and Test it
    test.json     for tests only: `calls`, the headers of the sender; `expected`, what lists show of
                  its samples, whose `statuses` are firing, pending or resolved; and `ignored`,
                  payloads that no filter may match

Limits: senders report many alerts in one second, and most of them give up on a 429. They may send
10 signals per second and 100 at once; above that, those that retry after a 5xx get a 503.

Idempotency: only an identity that the sender repeats in its retries and in nothing else. Headers
(Idempotency-Key, webhook-id, X-GitHub-Delivery) need no option. Alertmanager and Grafana have
none: the group key and the status are the same when an alert repeats after repeat_interval, which
is a new notification. Opsgenie, Sentry and Uptime Kuma have none either.

Filters match firing alerts and exclude resolved ones and tests; the options of action sets revert
the changes when an alert is resolved. Users add filters and choose the actions.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.services.actions.action_alerts import AlertTimes
from sigservice.services.actions.action_filters import Filter
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.signals.endpoint_options import EndpointOptions
from sigservice.services.signals.signature_schemes import SignatureSettings

FOLDER = Path(__file__).parent


class Samples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Payloads of an alert that fires, and of its end, None if the sender doesn't report it."""

    firing: dict[str, Any]
    resolved: dict[str, Any] | None = None


class Sender(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """`credentials` says how the sender authenticates, in one sentence; `signature` are the
    settings of a signature token, None if the sender doesn't sign. `page` is its page; `deliveries`
    says there how repeated deliveries are recognised if not by paths of the payload. A sender that
    `is_internal` is the service itself: no endpoint is created for it. `times` are the paths of the
    times at which alerts began and ended, None if the sender doesn't report both."""

    name: str
    order: int
    title: str
    credentials: str
    filters: list[Filter]
    action_set_options: ActionSetOptions
    setup: str
    samples: Samples
    page: str
    endpoint_options: EndpointOptions = msgspec.field(default_factory=EndpointOptions)
    signature: SignatureSettings | None = None
    deliveries: str = ""
    is_internal: bool = False
    times: AlertTimes | None = None

    def fill_setup(self, url: str, secret: str = "") -> str:
        """How users configure the sender, with the URL of their endpoint, and a secret if given."""
        text = self.setup.replace("ENDPOINT_URL", url)
        return text.replace("SIGNAL_TOKEN", secret) if secret else text


def load_senders(folder: Path) -> Mapping[str, Sender]:
    """The senders by name, in the order of lists: by their `order`, then by name. Raises OSError
    and ValueError if a folder lacks a file or has an invalid one."""
    senders = [_load_sender(file.parent) for file in folder.glob("*/sender.toml")]
    senders.sort(key=lambda sender: (sender.order, sender.name))
    return MappingProxyType({sender.name: sender for sender in senders})


def find_external(name: str) -> Sender:
    """A sender that isn't the service itself. Raises BadDataError for an unknown one."""
    external = list_external()
    if name not in external:
        raise BadDataError(f"The template must be one of {', '.join(external)}.", path="template")
    return external[name]


def find_times(name: str | None) -> AlertTimes | None:
    """The times of alerts of a sender, None for an unknown one."""
    sender = SENDERS.get(name or "")
    return sender.times if sender else None


def check_name(name: str | msgspec.UnsetType | None) -> None:
    """Raises BadDataError for the name of an unknown sender."""
    if isinstance(name, str):
        find_external(name)


def list_external() -> dict[str, Sender]:
    """The senders that aren't the service itself, by name."""
    return {name: sender for name, sender in SENDERS.items() if not sender.is_internal}


def _load_sender(folder: Path) -> Sender:
    try:
        values = {
            "name": folder.name,
            "page": f"docs/senders/{folder.name}.md",
            "setup": (folder / "setup.txt").read_text(encoding="utf-8"),
            "samples": {
                file.stem: msgspec.json.decode(file.read_bytes())
                for file in folder.glob("samples/*.json")
            },
        } | tomllib.loads((folder / "sender.toml").read_text(encoding="utf-8"))
        return msgspec.convert(values, Sender)
    except ValueError as error:
        raise ValueError(f"The sender {folder.name} is invalid: {error}") from error


SENDERS = load_senders(FOLDER)
