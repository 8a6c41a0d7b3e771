"""The requests of bench/integrations_beside.py, good and bad ones."""

from typing import Any, NamedTuple

ADDONS = "/api/admin/addons"
ONE = f"{ADDONS}/{{id}}"
EVENTS = [
    "feature-created",
    "feature-tagged",
    "feature-strategy-add",
    "feature-environment-enabled",
    "feature-archived",
]
PARAMETERS: dict[str, dict[str, str]] = {
    "webhook": {"authorization": "Bearer a", "customHeaders": '{"X-Team": "checkout"}'},
    "slack": {"defaultChannel": "general"},
    "teams": {},
    "teamsworkflow": {},
    "datadog": {"apiKey": "k", "sourceTypeName": "flags"},
    "new-relic": {"licenseKey": "k"},
}


class Step(NamedTuple):
    """A request; {id} is the integration that the last successful POST created."""

    name: str
    method: str
    path: str
    body: Any = None


def make_addon(kind: str, url: str, **more: Any) -> dict[str, Any]:
    return {
        "provider": kind,
        "enabled": True,
        "description": "d",
        "parameters": PARAMETERS[kind] | {"url": url},
        "events": EVENTS,
        "projects": [],
        "environments": [],
    } | more


def build_steps(url: str) -> list[Step]:
    """`url` is one that both accept."""
    webhook = make_addon("webhook", url)

    def lack(*names: str) -> dict[str, Any]:
        return {name: value for name, value in webhook.items() if name not in names}

    def change(**parameters: Any) -> dict[str, Any]:
        return webhook | {"parameters": parameters}

    other_host = url.replace("127.0.0.1", "localhost")
    bodies = {
        **{f"without {name}": lack(name) for name in webhook},
        "empty provider": webhook | {"provider": ""},
        "unknown provider": webhook | {"provider": "mail"},
        "provider constructor": webhook | {"provider": "constructor"},
        "provider with a space": webhook | {"provider": "a b"},
        "enabled as text": webhook | {"enabled": "true"},
        "enabled as number": webhook | {"enabled": 5},
        "events as text": webhook | {"events": "feature-created"},
        "events as numbers": webhook | {"events": [5]},
        "empty event": webhook | {"events": [""]},
        "no events": webhook | {"events": []},
        "unknown event": webhook | {"events": ["flag-made"]},
        "projects null": webhook | {"projects": None},
        "unknown project": webhook | {"projects": ["nowhere"]},
        "unknown environment": webhook | {"environments": ["nowhere"]},
        "parameters as text": webhook | {"parameters": "x"},
        "parameter as list": change(url=[]),
        "parameter as object": change(url={}),
        "parameter null": change(url=url, authorization=None),
        "parameter as boolean": change(url=url, authorization=True),
        "no URL": change(),
        "empty URL": change(url=""),
        "URL of ftp": change(url="ftp://127.0.0.1/"),
        "not a URL": change(url="not a url"),
        "URL as number": change(url=5),
        "IPv6 literal": change(url="http://[::1]/"),
        "unknown host": change(url="https://nowhere.invalid/"),
        "URL with a password": change(url=url.replace("//", "//u:p@")),
        "URL with port 22": change(url="http://192.0.2.1:22/"),
        "mask of a new secret": change(url=url, authorization="*****"),
        "template with an open section": change(url=url, bodyTemplate="{{#event}}"),
        "headers that aren't JSON": change(url=url, customHeaders="x"),
        "line break in authorization": change(url=url, authorization="a\nb"),
        "secret of one's own": change(url=url, secret="x"),
        "unknown parameter": change(url=url, more="x"),
        "description null": webhook | {"description": None},
        "description as number": webhook | {"description": 5},
        "unknown member": webhook | {"more": 1},
        "a list": [],
    }
    return [
        *(Step(f"create {kind}", "POST", ADDONS, make_addon(kind, url)) for kind in PARAMETERS),
        Step("create", "POST", ADDONS, webhook),
        Step("list", "GET", ADDONS),
        Step("read", "GET", ONE),
        Step("replace", "PUT", ONE, webhook | {"description": "e", "events": EVENTS[:1]}),
        Step("keep masks", "PUT", ONE, change(url="*****", authorization="*****")),
        Step("read after masks", "GET", ONE),
        Step("mask of what isn't set", "PUT", ONE, change(url="*****", customHeaders="*****")),
        Step("leave out", "PUT", ONE, lack("description", "projects", "environments")),
        Step("read after leaving out", "GET", ONE),
        Step("replace, some members", "PUT", ONE, {"enabled": False}),
        Step(
            "keep a secret, other host", "PUT", ONE, change(url=other_host, authorization="*****")
        ),
        Step("another provider", "PUT", ONE, make_addon("teams", url)),
        Step("events", "GET", f"{ONE}/events"),
        Step("events, bad limit", "GET", f"{ONE}/events?limit=1000&offset=-1"),
        Step("delete", "DELETE", ONE),
        Step("delete again", "DELETE", ONE),
        Step("read a deleted one", "GET", ONE),
        Step("replace a deleted one", "PUT", ONE, webhook),
        Step("events of a deleted one", "GET", f"{ONE}/events"),
        Step("ID as text", "GET", f"{ADDONS}/x"),
        Step("ID beyond 32 bits", "GET", f"{ADDONS}/99999999999"),
        Step("ID 0", "DELETE", f"{ADDONS}/0"),
        *(Step(name, "POST", ADDONS, body) for name, body in bodies.items()),
    ]
