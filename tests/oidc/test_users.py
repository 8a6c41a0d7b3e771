"""Which user signs in: known, connected by the address, created, or refused."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.oidc.conftest import find_login, read_code

PASSWORD = "Correct-Horse-7"


def test_known_user_stays_the_same_after_a_new_address_and_name(site):
    site.sign_in()
    id = site.users()["eva@example.org"]["id"]
    site.provider.claims |= {"email": "eva.new@example.org", "name": "Eva\x00 New\n"}
    web = site.browser()
    site.sign_in(web)
    eva = site.users()["eva.new@example.org"]
    assert (eva["id"], eva["name"]) == (id, "Eva New")
    assert find_login(web) == "eva.new@example.org"


def test_unverified_address_is_not_adopted(site):
    site.sign_in()
    site.provider.claims |= {"email": "boss@example.org", "email_verified": False}
    site.sign_in()
    assert set(site.users()) == {"ada", "eva@example.org"}


def test_address_of_another_user_is_not_adopted(site):
    site.create_user(email="bo@example.org")
    site.sign_in()
    for address in ("BO@example.org", "\uff42\uff4f@example.org"):
        site.provider.claims |= {"email": address}
        site.sign_in()
        assert set(site.users()) == {"ada", "bo@example.org", "eva@example.org"}


def test_sign_in_without_a_change_records_no_change(site):
    site.sign_in()
    site.sign_in()
    assert site.events("user-updated") == []
    methods = [event["data"]["method"] for event in site.events("user-signed-in")]
    assert methods == ["oidc", "oidc"]


@pytest.mark.parametrize(
    "address", ["", "eva", "eva@", "a@b@c", "a b@c", "a\x00@b", "x" * 330 + "@b"]
)
def test_user_needs_a_valid_address(site, address):
    site.provider.claims["email"] = address
    assert site.refusal() == "oidc-no-email"


@pytest.mark.parametrize("value", [None, 5, ["eva@example.org"], {}])
def test_address_must_be_text(site, value):
    site.provider.claims["email"] = value
    assert site.refusal() == "oidc-no-email"


@pytest.mark.parametrize("value", [False, "false", 1, "True", None, [True]])
def test_address_must_be_verified(site, value):
    site.provider.claims["email_verified"] = value
    page = site.sign_in(status=403)
    assert read_code(page) == "oidc-unverified-email"
    assert "eva@example.org" in page.text
    assert "SERVICE_OIDC_TRUST_EMAIL" in page.text
    assert set(site.users()) == {"ada"}


def test_text_true_counts_as_verified(site):
    site.provider.claims["email_verified"] = "true"
    site.sign_in()


def test_missing_mark_of_verification_needs_trust(make_site, provider):
    del provider.claims["email_verified"]
    assert make_site(SERVICE_OIDC_CREATE_USERS="true").refusal() == "oidc-unverified-email"
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", SERVICE_OIDC_TRUST_EMAIL="true")
    site.sign_in()


def test_address_and_verification_come_from_one_source(site):
    del site.provider.claims["email_verified"]
    site.provider.userinfo |= {"email": "other@example.org", "email_verified": True}
    site.sign_in()
    assert set(site.users()) == {"ada", "other@example.org"}


def test_verification_alone_in_userinfo_does_not_count(site):
    del site.provider.claims["email_verified"]
    site.provider.userinfo |= {"email_verified": True}
    assert site.refusal() == "oidc-unverified-email"


def test_another_claim_counts_as_verified_with_trust_alone(make_site, provider):
    provider.claims["upn"] = "eva@corp.example"
    variables = {"SERVICE_OIDC_CREATE_USERS": "true", "SERVICE_OIDC_EMAIL_CLAIM": "upn"}
    assert make_site(**variables).refusal() == "oidc-unverified-email"
    site = make_site(SERVICE_OIDC_TRUST_EMAIL="true", **variables)
    site.sign_in()
    assert "eva@corp.example" in site.users()


@pytest.mark.parametrize("email", ["eva@example.org", "EVA@Example.org"])
def test_existing_user_is_connected_by_the_address_once(make_site, provider, email):
    site = make_site()
    id = site.create_user(email=email, rootRole="Editor", name="Eva")
    web = site.browser()
    site.sign_in(web)
    (event,) = site.events("user-identity-linked")
    assert event["data"] == {
        "id": id,
        "username": email,
        "how": "email",
        "issuer": provider.url,
        "subject": "eva-1",
    }
    provider.claims["email"] = "elsewhere@example.org"
    site.sign_in()
    assert site.users()["elsewhere@example.org"]["id"] == id
    assert site.users()["elsewhere@example.org"]["role"] == "Editor"


def test_user_with_the_address_of_a_former_owner_is_refused(make_site, provider):
    site = make_site()
    site.create_user(email="eva@example.org")
    site.sign_in()
    provider.claims["sub"] = provider.userinfo["sub"] = "someone-else"
    web = site.browser()
    assert site.refusal(web) == "oidc-account-linked"
    assert find_login(web) is None


def test_admin_is_never_connected_by_the_address(make_site):
    site = make_site(SERVICE_OIDC_TRUST_EMAIL="true")
    site.create_user(email="eva@example.org", rootRole="Admin")
    page = site.sign_in(status=403)
    assert read_code(page) == "oidc-admin-account"
    assert "connect Keycloak on your profile page" in page.text
    assert page.html.find("a", string="Sign in with a password")


def test_connection_by_address_can_be_off(make_site):
    site = make_site(SERVICE_OIDC_LINK_BY_EMAIL="false", SERVICE_OIDC_CREATE_USERS="true")
    site.create_user(email="eva@example.org")
    assert site.refusal() == "oidc-account-exists"


def test_break_glass_user_is_never_connected(make_site):
    site = make_site(SERVICE_BREAK_GLASS_USERS="EVA@example.org", SERVICE_OIDC_CREATE_USERS="true")
    assert site.refusal() == "oidc-break-glass"
    site.create_user(email="eva@example.org")
    assert site.refusal() == "oidc-break-glass"


def test_user_who_became_a_break_glass_account_signs_in_by_password_only(make_site):
    make_site(SERVICE_OIDC_CREATE_USERS="true").sign_in()
    site = make_site(SERVICE_BREAK_GLASS_USERS="eva@example.org")
    assert site.refusal() == "oidc-break-glass"


@pytest.mark.parametrize(
    ("existing", "address"),
    [
        ("\uff45va@example.org", "eva@example.org"),  # full width
        ("e\u017fa@example.org", "esa@example.org"),  # a long s
        ("kim@example.org", "\u212aim@example.org"),  # the Kelvin sign
        ("stra\u00dfe@example.org", "strasse@example.org"),
    ],
)
def test_address_that_looks_like_another_is_refused(site, existing, address):
    site.create_user(email=existing)
    site.provider.claims["email"] = address
    assert site.refusal() == "oidc-similar-email"


def test_unknown_user_needs_an_admin(make_site):
    page = make_site().sign_in(status=403)
    assert read_code(page) == "oidc-no-user"
    assert "There is no user with the address eva@example.org" in page.text


def test_names_of_the_provider_are_never_logins(site):
    site.provider.claims |= {"preferred_username": "ada", "nickname": "ada", "role": "Admin"}
    site.sign_in()
    assert site.users()["ada"]["role"] == "Admin"
    assert site.users()["eva@example.org"]["role"] == "Viewer"


def test_hostile_claims_are_escaped(site):
    site.provider.claims["email"] = "<b>x</b>@example.org"
    site.provider.claims["email_verified"] = False
    page = site.sign_in(status=403)
    assert "<b>" not in page.text


def test_default_role_is_of_new_users(make_site, provider):
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", SERVICE_OIDC_DEFAULT_ROLE="editor")
    site.sign_in()
    assert site.users()["eva@example.org"]["role"] == "Editor"


def test_without_a_default_role_nobody_is_created(make_site):
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", SERVICE_OIDC_DEFAULT_ROLE="none")
    assert site.refusal() == "oidc-no-role"


@pytest.mark.parametrize(
    ("address", "works"),
    [
        ("eva@example.org", True),
        ("eva@EXAMPLE.com", True),
        ("eva@sub.example.org", False),
        ("eva@evil-example.org", False),
        ("eva@kiosk.example", True),
        ("eva@\u212aiosk.example", False),  # the Kelvin sign in lower case is k
        (None, False),
    ],
)
def test_only_addresses_of_the_domains_sign_in(make_site, provider, address, works):
    site = make_site(
        SERVICE_OIDC_CREATE_USERS="true",
        SERVICE_OIDC_EMAIL_DOMAINS="example.org, Example.com, kiosk.example",
    )
    provider.claims["email"] = address
    if works:
        site.sign_in()
    else:
        assert site.refusal() == "oidc-email-domain"


@pytest.mark.parametrize(
    ("claim", "works"),
    [
        ("example.com", True),
        (["x", "example.com"], True),
        ("other.com", False),
        (["x"], False),
        (None, False),
        ({"example.com": 1}, False),
    ],
)
def test_required_claims_must_be_equal(make_site, provider, claim, works):
    site = make_site(
        SERVICE_OIDC_CREATE_USERS="true",
        SERVICE_OIDC_REQUIRED_CLAIMS="hd=example.com,level=5,on=true",
    )
    provider.claims |= {"hd": claim, "level": 5, "on": True}
    if works:
        site.sign_in()
    else:
        assert site.refusal() == "oidc-required-claim"


def test_sessions_end_when_the_provider_says_no(make_site, provider):
    site = make_site(SERVICE_OIDC_CREATE_USERS="true", SERVICE_OIDC_EMAIL_DOMAINS="example.org")
    web = site.browser()
    site.sign_in(web)
    provider.claims["email"] = "eva@gone.example"
    assert site.refusal() == "oidc-email-domain"
    assert find_login(web) is None
    (event,) = site.events("user-sessions-ended")
    assert (event["data"]["reason"], event["data"]["count"]) == ("oidc-email-domain", 1)


def test_failures_are_in_the_audit_log(make_site):
    site = make_site()
    id = site.create_user(email="eva@example.org", rootRole="Admin")
    site.refusal()
    (event,) = site.events("user-sign-in-failed")
    assert event["data"] == {
        "reason": "oidc-admin-account",
        "method": "oidc",
        "subject": "eva-1",
        "email": "eva@example.org",
        "id": id,
        "username": "eva@example.org",
    }


def test_session_is_valid_only_while_its_issuer_is_configured(site, make_service, make_site):
    web = site.browser()
    site.sign_in(web)
    other = make_site(SERVICE_OIDC_ISSUER="https://other.example")
    without = make_service({}, {"SERVICE_URL": "http://localhost"})
    for service in (other.service, without):
        web.app = service.app
        assert find_login(web) is None
    web.app = site.service.app
    assert find_login(web) == "eva@example.org"


def test_deleted_user_who_comes_back_is_a_new_one(site):
    site.sign_in()
    id = site.users()["eva@example.org"]["id"]
    site.web.delete(f"/api/admin/user-admin/{id}", headers=ADMIN)
    site.sign_in()
    assert site.users()["eva@example.org"]["id"] != id
