"""Secrets of tokens that are replaced, expire, or are allowed from some addresses only."""

from __future__ import annotations

from datetime import timedelta

import pytest
import webtest

from tests.conftest import ADMIN, ENCRYPTION_KEY
from tests.routes.admin.signals.test_signal_endpoints import PATH, events
from tests.routes.kit import race_for_statuses

CALL = "/api/signal-endpoint/deploys"
ENVIRON = {
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "1000",
    "FAILED_AUTH_LIMIT_PER_MINUTE": "1000000",
    "SERVICE_TRUSTED_PROXY": "127.0.0.1",
}
HOUR, DAY = 3600, 86_400


@pytest.fixture
def service(make_service):
    return make_service(environ=ENVIRON)


@pytest.fixture
def path(make):
    return f"{PATH}/{make.endpoint()['id']}/tokens"


@pytest.fixture
def create(web, path):
    """`create(**members)` returns the new token and its path."""

    def post(name="ci", **members):
        token = web.post_json(path, {"name": name, **members}, headers=ADMIN, status=201).json
        return token, f"{path}/{token['id']}"

    return post


def rotate(web, path, status=200, **body):
    return web.post_json(f"{path}/rotate", body, headers=ADMIN, status=status).json


def call(web, token, address=""):
    """The status of a call, from an address that the proxy reports."""
    headers = {"Authorization": token["token"], "X-Forwarded-For": address}
    environ = {"REMOTE_ADDR": "127.0.0.1"}
    return web.post(CALL, headers=headers, extra_environ=environ, status="*").status_int


def test_both_secrets_are_valid_in_the_grace_period_and_then_the_new_one(web, clock, create):
    old, path = create()
    new = rotate(web, path, graceHours=2)
    assert new["token"] != old["token"]
    assert new["secretPrefix"] == new["token"][:11]
    assert (call(web, old), call(web, new)) == (200, 200)
    clock.advance(2 * HOUR - 1)
    assert (call(web, old), call(web, new)) == (200, 200)
    clock.advance(1)
    assert (call(web, old), call(web, new)) == (401, 200)


def test_the_grace_period_is_a_day_by_default(web, clock, create):
    _, path = create()
    until = (clock.now() + timedelta(days=1)).isoformat(timespec="milliseconds")
    assert rotate(web, path)["previousSecretExpiresAt"] == until.replace("+00:00", "Z")


def test_without_a_grace_period_the_old_secret_ends_at_once(web, create):
    old, path = create()
    assert call(web, old) == 200  # the settings are in memory
    new = rotate(web, path, graceHours=0)
    assert (call(web, old), call(web, new)) == (401, 200)


def test_the_grace_period_can_end_early(web, create):
    old, path = create()
    new = rotate(web, path)
    assert call(web, old) == 200
    token = web.delete(f"{path}/previous-secret", headers=ADMIN).json
    assert token["previousSecretExpiresAt"] is None
    assert (call(web, old), call(web, new)) == (401, 200)


def test_a_second_rotation_ends_the_grace_period_of_the_first(web, create):
    first, path = create()
    second = rotate(web, path)
    third = rotate(web, path)
    assert [call(web, token) for token in (first, second, third)] == [401, 200, 200]


def test_rotations_are_recorded_without_secrets(web, create):
    old, path = create()
    new = rotate(web, path)
    web.delete(f"{path}/previous-secret", headers=ADMIN)
    recorded = [e for e in events(web) if e["type"] == "signal-endpoint-token-updated"]
    ended, rotated = recorded
    assert rotated["data"]["change"] == "rotated"
    assert rotated["preData"]["previousSecretExpiresAt"] is None
    assert rotated["data"]["previousSecretExpiresAt"] is not None
    assert ended["data"]["previousSecretExpiresAt"] is None
    assert old["token"][12:] not in str(events(web))
    assert new["token"][12:] not in str(events(web))


def test_ending_a_grace_period_that_is_none_changes_nothing(web, create):
    _, path = create()
    count = len(events(web))
    web.delete(f"{path}/previous-secret", headers=ADMIN)
    assert len(events(web)) == count


@pytest.mark.parametrize("hours", [-1, 721, 1.5, "1", None, True, 10**30])
def test_an_invalid_grace_period_leaves_the_secret(web, create, hours):
    old, path = create()
    rotate(web, path, 400, graceHours=hours)
    assert call(web, old) == 200


def test_a_bearer_token_takes_no_secret(web, create):
    old, path = create()
    problem = rotate(web, path, 400, secret="s" * 20)
    assert problem["details"][0]["path"] == "secret"
    assert call(web, old) == 200


def test_missing_tokens_are_not_rotated(web, path):
    rotate(web, f"{path}/999", 404)
    web.delete(f"{path}/999/previous-secret", headers=ADMIN, status=404)


def test_editors_rotate_nothing(cast, create, web):
    old, path = create()
    ed = cast.signed_in("ed")
    headers = {"X-CSRF-Token": ed.csrf}
    ed.post_json(f"{path}/rotate", {}, headers=headers, status=403)
    ed.delete(f"{path}/previous-secret", headers=headers, status=403)
    assert call(web, old) == 200


def test_an_expired_token_is_401_with_the_one_text(web, clock, create):
    at = clock.now() + timedelta(hours=1)
    token, _ = create(expiresAt=at.isoformat())
    assert token["expiresAt"] == at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    clock.advance(HOUR - 1)
    assert call(web, token) == 200
    clock.advance(1)
    headers = {"Authorization": token["token"]}
    expired = web.post(CALL, headers=headers, status=401).json
    unknown = web.post(CALL, headers={"Authorization": "signal_x"}, status=401).json
    assert expired["message"] == unknown["message"]


def test_rotation_keeps_the_expiry(web, clock, create):
    _, path = create(expiresAt=(clock.now() + timedelta(hours=1)).isoformat())
    new = rotate(web, path)
    clock.advance(HOUR)
    assert call(web, new) == 401


def test_an_expired_token_can_be_renamed_and_extended(web, clock, create):
    token, path = create(expiresAt=(clock.now() + timedelta(hours=1)).isoformat())
    clock.advance(DAY)
    web.put_json(path, {"name": "renamed"}, headers=ADMIN)
    assert call(web, token) == 401
    web.put_json(path, {"name": "renamed", "expiresAt": None}, headers=ADMIN)
    assert call(web, token) == 200


@pytest.mark.parametrize(
    ("addresses", "allowed", "refused"),
    [
        (["203.0.113.7"], "203.0.113.7", "203.0.113.8"),
        (["203.0.113.0/24", "198.51.100.1"], "203.0.113.255", "203.0.114.0"),
        (["203.0.113.0/24"], "::ffff:203.0.113.9", "::ffff:203.0.112.9"),
        (["::ffff:203.0.113.0/120"], "203.0.113.9", "203.0.112.9"),
        (["::ffff:203.0.113.9"], "203.0.113.9", "203.0.113.8"),
        (["2001:db8::/32"], "2001:db8:1::2", "2001:db9::1"),
        (["2001:DB8::1"], "2001:db8:0::1", "2001:db8::2"),
        (["::/0"], "2001:db8::1", "203.0.113.7"),
        (["0.0.0.0/0"], "203.0.113.7", "2001:db8::1"),
    ],
)
def test_a_token_is_valid_from_its_addresses(web, create, addresses, allowed, refused):
    token, _ = create(allowedAddresses=addresses)
    assert (call(web, token, allowed), call(web, token, refused)) == (200, 401)


def test_addresses_of_an_untrusted_proxy_are_ignored(web, create):
    token, _ = create(allowedAddresses=["203.0.113.7"])
    headers = {"Authorization": token["token"], "X-Forwarded-For": "203.0.113.7"}
    web.post(CALL, headers=headers, extra_environ={"REMOTE_ADDR": "203.0.113.8"}, status=401)
    web.post(CALL, headers=headers, extra_environ={"REMOTE_ADDR": "203.0.113.7"})


def test_a_unix_socket_has_no_address(web, create):
    token, path = create(allowedAddresses=["127.0.0.1"])
    headers = {"Authorization": token["token"]}
    web.post(CALL, headers=headers, extra_environ={"REMOTE_ADDR": ""}, status=401)
    web.put_json(path, {"name": "ci", "allowedAddresses": []}, headers=ADMIN)
    web.post(CALL, headers=headers, extra_environ={"REMOTE_ADDR": ""})


def test_new_addresses_apply_to_the_next_call(web, create):
    token, path = create()
    assert call(web, token, "203.0.113.7") == 200
    web.put_json(path, {"name": "ci", "allowedAddresses": ["203.0.113.8"]}, headers=ADMIN)
    assert call(web, token, "203.0.113.7") == 401
    assert call(web, token, "203.0.113.8") == 200


def test_absent_members_stay_as_they_are(web, clock, create):
    members = {
        "expiresAt": (clock.now() + timedelta(days=1)).isoformat(),
        "allowedAddresses": ["10.0.0.0/8"],
        "signature": {"scheme": "grafana", "header": "X-Own"},
    }
    token, path = create(**members)
    renamed = web.put_json(path, {"name": "other"}, headers=ADMIN).json
    del token["token"]
    assert renamed == token | {"name": "other"}


@pytest.mark.parametrize("old", [None, {"scheme": "github"}])
@pytest.mark.parametrize("new", [None, {"scheme": "standard-webhooks"}])
def test_type_and_scheme_of_a_token_do_not_change(web, create, old, new):
    """The secret may be no key of the other scheme."""
    _, path = create(**({"signature": old} if old else {}))
    if old != new:
        body = {"name": "ci", "signature": new}
        problem = web.put_json(path, body, headers=ADMIN, status=400).json
        assert "signature" in str(problem)


def test_tokens_of_certificates_have_no_secret_to_rotate(web, create):
    topics = ["arn:aws:sns:eu-west-1:123456789012:alerts"]
    token, path = create(signature={"scheme": "aws-sns", "topics": topics})
    assert token["token"] == ""
    assert "certificates" in rotate(web, path, 400)["message"]


def test_two_changes_at_once_keep_each_other(service, web, create):
    """A change must not store the members that it leaves as another change found them."""
    _, path = create()
    members = [{"allowedAddresses": ["10.0.0.1"]}, {"expiresAt": "2999-01-01"}] * 5

    def change(racer, n):
        return racer.put_json(path, {"name": "ci", **members[n]}, headers=ADMIN)

    assert set(race_for_statuses(service, 10, change)) == {200}
    token = web.get(path, headers=ADMIN).json
    assert token["allowedAddresses"] == ["10.0.0.1"]
    assert token["expiresAt"] == "2999-01-01T00:00:00.000Z"


def test_the_use_of_a_token_is_in_its_json(web, rows, create):
    token, path = create()
    assert (token["lastUsedAt"], token["lastUsedFrom"], token["uses"]) == (None, None, 0)
    statement = "INSERT INTO signal_token_uses VALUES (%s, '2026-01-02T03:04:05Z', '10.0.0.1', 7)"
    rows(statement, token["id"])
    token = web.get(path, headers=ADMIN).json
    assert token["lastUsedAt"] == "2026-01-02T03:04:05.000Z"
    assert (token["lastUsedFrom"], token["uses"]) == ("10.0.0.1", 7)


def test_without_the_key_a_signing_secret_is_refused_and_a_bearer_token_is_not(
    make_service, tmp_path
):
    file = tmp_path / "keys"
    file.write_text(ENCRYPTION_KEY)
    web = webtest.TestApp(make_service(environ={"SERVICE_ENCRYPTION_KEY_FILE": str(file)}).app)
    file.unlink()
    endpoint = web.post_json(PATH, {"name": "a"}, headers=ADMIN).json
    path = f"{PATH}/{endpoint['id']}/tokens"
    web.post_json(path, {"name": "bearer"}, headers=ADMIN, status=201)
    body = {"name": "signature", "signature": {"scheme": "github"}}
    refused = web.post_json(path, body, headers=ADMIN, status=422).json
    assert refused["message"] == f"The encryption key {file} is missing."
    assert len(web.get(path, headers=ADMIN).json["signalEndpointTokens"]) == 1
