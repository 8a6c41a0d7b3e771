"""Channels when a set is saved, and the list of what was sent."""

from __future__ import annotations

import base64

import pytest

from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN

SECRET = "whsec_" + base64.b64encode(bytes(range(24))).decode()


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


def channel(url="https://hooks.example/x", **more):
    return {"type": "webhook", "url": url, "on": ["failed"]} | more


WRONG = [
    (channel("ftp://hooks.example/"), "url", "must begin with https"),
    (channel("http://127.0.0.1/"), "url", "private"),
    (channel("http://0x7f.1/"), "url", "private"),
    (channel("http://[::ffff:10.0.0.1]:8080/"), "url", "private"),
    (channel("http://169.254.169.254/"), "url", "private"),
    (channel("https://hooks.example:22/"), "url", "port"),
    (channel("https://me:s3cret@hooks.example/"), "url", "password"),
    (channel("https://h.example/" + "x" * 2000), "url", "2000"),
    (channel(secret="s3cret"), "secret", "whsec_"),
    (channel(secret="whsec_"), "secret", "whsec_"),
    (channel(secret="whsec_c2hvcnQ="), "secret", "whsec_"),
    (channel(secret=SECRET[:-1] + "*"), "secret", "whsec_"),
    (channel(secret="whsec_" + base64.b64encode(bytes(65)).decode()), "secret", "whsec_"),
    (channel("json://hooks.example/", type="apprise", secret=SECRET), "secret", "Only webhooks"),
]


def test_channels_are_checked_when_a_set_is_saved(alerts, web):
    body = alerts.body()
    for values, path, why in WRONG:
        body["options"] = {"notifications": [channel(), values]}
        answer = web.post_json(SETS, body, headers=ADMIN, status=400).json
        results = {item["path"]: item["message"] for item in answer["details"]}
        assert why in results[f"options.notifications[1].{path}"], values
        assert "s3cret" not in str(answer)
    body["options"] = {"notifications": [channel()] * 11}
    web.post_json(SETS, body, headers=ADMIN, status=400)
    for secret in (SECRET, "whsec_" + base64.b64encode(bytes(64)).decode()):
        body |= {"name": secret, "options": {"notifications": [channel(secret=secret)]}}
        web.post_json(SETS, body, headers=ADMIN, status=201)


def test_the_operator_allows_private_hosts(make_service):
    import webtest

    from tests.conftest import Make

    environ = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "10.0.0.0/8,hooks.inside"}
    service = make_service(environ=environ)
    web = webtest.TestApp(service.app)
    alerts = Alerts(service, web, Make(web))
    urls = ("http://10.1.2.3:81/", "https://hooks.inside:25/")
    alerts.set(options={"notifications": [channel(url) for url in urls]})
    body = alerts.body(name="b", options={"notifications": [channel("http://127.0.0.1/")]})
    web.post_json(SETS, body, headers=ADMIN, status=400)


def test_what_comes_back_masked_is_kept(alerts, web, database):
    """Two channels that look alike keep an address each."""
    values = [
        channel("https://hooks.example/a?t=1", secret=SECRET),
        channel("https://hooks.example?t=2"),
    ]
    id = alerts.set(options={"notifications": values})["id"]
    text = web.get(f"{SETS}/{id}", headers=ADMIN).json["options"]
    mask_channel = [c["url"] for c in text["notifications"]]
    assert [url[:-4] for url in mask_channel] == ["https://hooks.example/…"] * 2
    assert mask_channel[0] != mask_channel[1]
    web.put_json(f"{SETS}/{id}", alerts.body(options=text), headers=ADMIN)
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("SELECT settings -> 'notifications' FROM action_sets WHERE id = %s", (id,))
        (previous,) = cursor.fetchone()
    conn.close()
    assert [c["url"] for c in previous] == [c["url"] for c in values]
    assert [c.get("secret") for c in previous] == [SECRET, None]
    text["notifications"].append(channel("https://new.example/", secret="…"))
    web.put_json(f"{SETS}/{id}", alerts.body(options=text), headers=ADMIN, status=400)


def test_the_newest_are_listed_and_nothing_of_other_sets(alerts, web, cast, database):
    to = {"notifications": [channel(on=["success", "failed", "suppressed"], secret=SECRET)]}
    one = alerts.set(options=to)["id"]
    other = alerts.set(name="other")["id"]
    alerts.send()
    alerts.work()
    conn = database.connect()
    with conn.cursor() as cursor:
        copy = "INSERT INTO outbox (kind, subject_id, target) "
        copy += "SELECT kind, subject_id, target FROM outbox, generate_series(1, 51)"
        cursor.execute(copy)
    conn.close()
    path = f"{SETS}/{one}/notifications"
    results = web.get(path, headers=ADMIN).json["notifications"]
    assert len(results) == 50
    assert [n["id"] for n in results] == sorted((n["id"] for n in results), reverse=True)
    assert (results[0]["state"], results[0]["attempts"], results[0]["dueAt"]) == (
        "waiting",
        0,
        None,
    )
    channel_json = results[0]["channel"]
    assert (channel_json["url"][:-4], channel_json["secret"]) == ("https://hooks.example/…", "…")
    assert web.get(f"{SETS}/{other}/notifications", headers=ADMIN).json == {"notifications": []}
    id = results[0]["id"]
    for path in (f"{SETS}/{other}", f"{SETS}/999", "/api/admin/projects/no/actions/1"):
        web.post(f"{path}/notifications/{id}/retry", headers=ADMIN, status=404)
    for big in (0, 2**31, 2**63, 10**18):
        web.post(f"{SETS}/{one}/notifications/{big}/retry", headers=ADMIN, status=404)
        web.get(f"{SETS}/{big}/notifications", headers=ADMIN, status=404)
    retried = web.post(f"{SETS}/{one}/notifications/{id}/retry", headers=ADMIN, status=202).json
    assert (retried["id"], retried["state"]) == (id, "waiting")
    assert alerts.service.context.outbox_waiting.is_set()
    event = web.get("/api/admin/events", headers=ADMIN).json["events"][0]
    assert (event["type"], event["data"]) == (
        "actions-notification-retried",
        {"notificationId": id, "actionSetName": "kill checkout"},
    )
    for name in ("ed", "vera"):
        browser = cast.signed_in(name)
        browser.get(f"{SETS}/{one}/notifications", status=403)
        headers = {"X-CSRF-Token": browser.csrf}
        browser.post(f"{SETS}/{one}/notifications/{id}/retry", headers=headers, status=403)
