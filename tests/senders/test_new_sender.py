"""A folder is all that a new sender needs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sigservice import senders
from sigservice.senders import FOLDER, load_senders
from sigservice.senders.docs import write_pages
from tests.conftest import ADMIN, Make
from tests.pages.flags import Flags
from tests.pages.page_reader import form_to
from tests.senders.kit import Caller, check_samples, read_test

DOCS = FOLDER.parents[1] / "docs" / "senders"
CALL = {
    "signed": "{timestamp}.{body}",
    "headers": {"X-Acme-Time": "{timestamp}", "X-Acme-Signature": "v1={signature}"},
}
FILES = {
    "sender.toml": """
order = 155
title = "Acme Monitor"
credentials = "The sender signs with a secret: create a signature token."
deliveries = "does not retry"
filters = [{ path = "state", operator = "IN", values = ["firing"] }]

[endpointOptions]
rateLimit = { perSecond = 10, burst = 100 }
summary = [{ label = "Check", path = "check" }]
statusPath = "state"

[signature]
scheme = "generic"
header = "X-Acme-Signature"
timestampHeader = "X-Acme-Time"
prefix = "v1="
content = "{timestamp}.{body}"

[actionSetOptions]
restoreWhenResolved = { path = "state", values = ["resolved"], key = "check" }
""",
    "setup.txt": "Call ENDPOINT_URL, with a signature token.\n",
    "samples/firing.json": '{"check": "checkout", "state": "firing"}\n',
    "samples/resolved.json": '{"check": "checkout", "state": "resolved"}\n',
    "page.md": "# {{title}}\n\n{{endpoint}}\n\n{{setup}}\n\n{{firing}}\n",
    "test.json": json.dumps(
        {
            "calls": [CALL],
            "expected": {
                "summary": "checkout",
                "severity": "",
                "statuses": ["firing", "resolved"],
            },
        }
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """The senders of the service, and a new one."""
    folder = tmp_path / "senders"
    shutil.copytree(FOLDER, folder)
    for name, text in FILES.items():
        file = folder / "acme" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setattr(senders, "SENDERS", load_senders(folder))
    return folder


@pytest.fixture
def sender(folder):
    return senders.SENDERS["acme"]


def test_an_automation_of_its_endpoint_has_its_filters_and_its_end(sender, cast, web):
    flags, make = Flags(web), Make(web)
    flags.create_flag("checkout")
    endpoint = make.endpoint("acme", template="acme")
    path = f"/admin/automation/new?flag=checkout&endpoint={endpoint['id']}"
    form = cast.signed_in("ada").get(path).forms["editor"]
    form.submit(status=303)
    (item,) = web.get("/api/admin/projects/default/actions", headers=ADMIN).json["actions"]
    assert item["match"]["payload"]["state"]["values"] == ["firing"]
    assert item["options"]["restoreWhenResolved"]["key"] == "check"


def test_it_is_a_choice_of_a_new_endpoint(sender, cast):
    page = cast.signed_in("ada").get("/admin/signals/new")
    form = form_to(page, "/admin/signals/new")
    assert ("acme", False, "Acme Monitor") in form["template"].options


def test_the_api_lists_it_in_its_order(sender, web):
    recipes = web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
    names = [recipe["name"] for recipe in recipes]
    assert names[-3:] == ["acme", "generic", "silence"]
    assert recipes[-3]["sample"] == {"check": "checkout", "state": "firing"}


def test_its_samples_are_stored_with_status_and_summary(sender, folder, web, clock):
    check_samples(Caller(web, clock, sender, CALL), read_test("acme", folder)["expected"])


def test_a_changed_body_of_it_is_refused(sender, web, clock):
    caller = Caller(web, clock, sender, CALL)
    caller.send(sender.samples.firing, body='{"state": "other"}', status=401)
    assert caller.list_signals() == []


def test_its_page_and_its_row_of_the_index_are_written(folder, tmp_path):
    docs = tmp_path / "docs"
    shutil.copytree(DOCS, docs)
    write_pages(folder, docs)
    page = (docs / "acme.md").read_text()
    assert page.startswith("# Acme Monitor\n\nCreate an endpoint with the template `acme`")
    assert FILES["setup.txt"] in page
    assert FILES["samples/firing.json"] in page
    assert "| [Acme Monitor](acme.md) | `acme` |" in (docs / "README.md").read_text()


def test_an_invalid_folder_is_named(folder):
    file = folder / "acme" / "sender.toml"
    file.write_text(f'titel = "Acme"\n{file.read_text()}')
    with pytest.raises(ValueError, match=r"The sender acme is invalid: .*titel"):
        load_senders(folder)


def test_a_sender_without_a_sample_is_refused(folder):
    (folder / "acme" / "samples" / "firing.json").unlink()
    with pytest.raises(ValueError, match=r"The sender acme is invalid: .*firing"):
        load_senders(folder)
