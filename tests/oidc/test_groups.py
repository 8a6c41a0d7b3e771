"""Groups of the provider decide about roles at each sign-in, if they are configured."""

from __future__ import annotations

import pytest

from sigservice.services.access.oidc.claims import MISSING, find_claim
from tests.conftest import ADMIN, Cast
from tests.oidc.conftest import find_login
from tests.table_tests import each

GROUPS = {
    "SERVICE_OIDC_CREATE_USERS": "true",
    "SERVICE_OIDC_ADMIN_GROUPS": '["admins", "with, comma"]',
    "SERVICE_OIDC_EDITOR_GROUPS": "platform/flags,editors",
}


def role(site):
    return site.users()["eva@example.org"]["role"]


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["admins"], "Admin"),
        (["editors", "admins"], "Admin"),
        (["with, comma"], "Admin"),
        (["platform/flags"], "Editor"),
        ("editors", "Editor"),
        ("editors,admins", "Viewer"),  # one group, not split
        (["Admins"], "Viewer"),
        ([" admins"], "Viewer"),
        ([], "Viewer"),
        (None, "Viewer"),
        (MISSING, "Viewer"),
    ],
)
def test_highest_role_of_the_groups_wins(make_site, provider, groups, expected):
    if groups is not MISSING:
        provider.claims["groups"] = groups
    site = make_site(**GROUPS)
    site.sign_in()
    assert role(site) == expected


def test_groups_change_the_role_at_each_sign_in_in_all_sessions(make_site, provider):
    site = make_site(**GROUPS)
    provider.claims["groups"] = ["editors"]
    web = site.browser()
    site.sign_in(web)
    id = site.users()["eva@example.org"]["id"]
    site.web.put_json(f"/api/admin/user-admin/{id}", {"rootRole": "Admin"}, headers=ADMIN)
    site.sign_in()
    assert role(site) == "Editor"
    del provider.claims["groups"]  # of the last group: some providers omit the claim
    site.sign_in()
    assert web.get("/api/admin/user/profile").json["rootRole"]["name"] == "Viewer"


def test_without_groups_configured_roles_are_managed_here(site):
    site.provider.claims["groups"] = ["admins"]
    site.sign_in()
    id = site.users()["eva@example.org"]["id"]
    site.web.put_json(f"/api/admin/user-admin/{id}", {"rootRole": "Editor"}, headers=ADMIN)
    site.sign_in()
    assert role(site) == "Editor"


def test_users_in_no_group_cannot_sign_in_without_a_default_role(make_site, provider):
    site = make_site(SERVICE_OIDC_DEFAULT_ROLE="none", **GROUPS)
    provider.claims["groups"] = ["admins"]
    web = site.browser()
    site.sign_in(web)
    provider.claims["groups"] = ["others"]
    assert site.refusal() == "oidc-no-role"
    assert find_login(web) is None  # the earlier session has ended
    assert role(site) == "Admin"


def test_last_admin_stays_one_and_signs_in(make_site, provider):
    site = make_site(**GROUPS)
    provider.claims["groups"] = ["admins"]
    site.sign_in()
    site.web.delete(f"/api/admin/user-admin/{site.users()['ada']['id']}", headers=ADMIN)
    provider.claims |= {"groups": [], "name": "Eva Renamed"}
    site.sign_in()
    eva = site.users()["eva@example.org"]
    assert (eva["role"], eva["name"]) == ("Admin", "Eva Renamed")
    assert any("last admin" in line for line in site.log.lines)


def test_groups_are_read_from_userinfo_if_the_token_lacks_them(make_site, provider):
    site = make_site(**GROUPS)
    provider.userinfo["groups"] = ["admins"]
    site.sign_in()
    assert role(site) == "Admin"
    provider.claims["groups"] = ["editors"]  # the token wins
    site.sign_in()
    assert role(site) == "Editor"


@pytest.mark.parametrize("groups", [5, {"admins": True}, ["admins", 5], [None], [["admins"]]])
def test_groups_of_another_form_change_nothing(make_site, provider, groups):
    site = make_site(**GROUPS)
    provider.claims["groups"] = ["admins"]
    web = site.browser()
    site.sign_in(web)
    provider.claims["groups"] = groups
    assert site.refusal() == "oidc-response"
    assert role(site) == "Admin"
    assert find_login(web)


def test_userinfo_has_the_claims_that_are_null_in_the_token(make_site, provider):
    provider.claims |= {"groups": None, "email": None, "name": None}
    provider.userinfo |= {"groups": ["admins"], "email": "e@example.org", "email_verified": True}
    site = make_site(**GROUPS)
    site.sign_in()
    assert site.users()["e@example.org"]["role"] == "Admin"


@pytest.mark.parametrize("marks", [{"_claim_names": {"groups": "src1"}}, {"hasgroups": True}])
def test_too_many_groups_demote_nobody(make_site, provider, marks):
    site = make_site(**GROUPS)
    provider.claims["groups"] = ["admins"]
    site.sign_in()
    del provider.claims["groups"]
    provider.claims |= marks
    assert site.refusal() == "oidc-too-many-groups"
    assert role(site) == "Admin"


def test_too_many_groups_do_not_matter_without_groups_configured(site):
    site.provider.claims["hasgroups"] = True
    site.sign_in()


def test_missing_claim_is_logged_once_an_hour(make_site, clock):
    site = make_site(**GROUPS)

    def count():
        return sum("has the claim groups" in line for line in site.log.lines)

    site.sign_in()
    site.sign_in()
    assert count() == 1
    clock.advance(3600)
    site.sign_in()
    assert count() == 2


@each(
    "path expected",
    [
        ("groups", ["a"]),
        ("https://example.com/groups", ["b"]),
        ("realm_access.roles", ["c"]),
        ("/realm_access/roles", ["c"]),
        ("/a~1b/~0", ["d"]),
        ("x.y", ["e"]),
        ("realm_access.none", MISSING),
        ("groups.0", MISSING),
        ("none", MISSING),
        ("/", MISSING),
        ("..", MISSING),
    ],
)
def test_claim_is_found_by_name_path_or_pointer(path, expected):
    claims = {
        "groups": ["a"],
        "https://example.com/groups": ["b"],
        "realm_access": {"roles": ["c"]},
        "a/b": {"~": ["d"]},
        "x.y": ["e"],
        "x": {"y": ["not this one"]},
    }
    assert find_claim(claims, path) == expected


def test_break_glass_user_keeps_the_role(make_site):
    site = make_site(SERVICE_BREAK_GLASS_USERS="ed", **GROUPS)
    assert find_login(Cast(site.service).signed_in("ed")) == "ed"
    assert site.users()["ed"]["role"] == "Editor"
