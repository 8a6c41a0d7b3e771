"""Requests while all slots for password hashing are taken."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise

import pytest
import webtest

import sigservice
from sigservice.application.build import OWN_PASSWORDS_PER_MINUTE
from sigservice.clock import format_iso
from sigservice.services.system.capped_log import MAX_LINES_PER_MINUTE
from tests.application.test_app import Log
from tests.conftest import ADMIN, ADMIN_TOKEN, Cast
from tests.services.access.test_password_hashing import (
    DEADLINE,
    ROOM,
    HeldPasswords,
    admitted_threads,
)

ADA = {"username": "ada", "password": Cast.PASSWORD}


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def busy_site(database, clock, log):
    """A service, and its passwords, which hash when they are released."""
    passwords = HeldPasswords()
    passwords.release.set()
    tokens = [{"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}]
    options = {
        "db": database.options(),
        "getLogger": log,
        "authentication": {"initialAdminUser": ADA, "initApiTokens": tokens},
    }
    service = sigservice.create(options, {}, clock=clock, passwords=passwords)
    while passwords.started.acquire(blocking=False):
        pass
    yield webtest.TestApp(service.app), passwords
    service.stop()


REQUESTS = {
    "sign-in": ("/auth/simple", ADA),
    "unknown user": ("/auth/simple/login", ADA | {"username": "nobody"}),
    "new user": ("/api/admin/user-admin", ADA | {"username": "eve"}),
    "password by an admin": (
        "/api/admin/user-admin/{id}/change-password",
        {"password": "Aa1-Bb2-Cc3"},
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_needs_a_hash_is_503(busy_site, name):
    web, passwords = busy_site
    path, body = REQUESTS[name]
    headers = ADMIN if path.startswith("/api") else {}
    (ada,) = web.get("/api/admin/user-admin", headers=ADMIN).json["users"]
    passwords.release.clear()
    with admitted_threads(passwords, ROOM):
        answer = web.post_json(path.format(id=ada["id"]), body, headers=headers, status=503)
    assert answer.json["name"] == "UnavailableError"
    assert answer.headers["Retry-After"] == "1"


def test_other_requests_are_answered(busy_site):
    web, passwords = busy_site
    passwords.release.clear()
    with admitted_threads(passwords, ROOM):
        web.get("/health", status=200)
        web.get("/api/admin/projects", headers=ADMIN, status=200)


def test_a_refused_form_is_a_page(busy_site):
    web, passwords = busy_site
    form = web.get("/sign-in").form
    form["username"], form["password"] = "ada", Cast.PASSWORD
    passwords.release.clear()
    with admitted_threads(passwords, ROOM):
        page = form.submit(status=503)
    assert page.content_type == "text/html"


def test_a_flood_of_refused_sign_ins_leaves_few_lines_in_the_log(busy_site, log):
    web, passwords = busy_site
    passwords.release.clear()
    with admitted_threads(passwords, ROOM):
        for n in range(MAX_LINES_PER_MINUTE + 10):
            place = {"REMOTE_ADDR": f"10.0.0.{n}"}
            web.post_json("/auth/simple", ADA, extra_environ=place, status=503)
    assert sum("UnavailableError" in text for _, _, text in log.lines) == MAX_LINES_PER_MINUTE


def test_a_refused_sign_in_is_no_wrong_password(busy_site):
    web, passwords = busy_site
    passwords.release.clear()
    with admitted_threads(passwords, ROOM):
        for n in range(12):
            place = {"REMOTE_ADDR": f"10.0.0.{n}"}
            web.post_json("/auth/simple", ADA, extra_environ=place, status=503)
    web.post_json("/auth/simple", ADA, extra_environ={"REMOTE_ADDR": "10.0.0.99"}, status=200)


def test_an_invalid_link_is_not_hashed(busy_site):
    web, passwords = busy_site
    body = {"token": "x" * 43, "password": "Aa1-Bb2-Cc3"}
    with occupied_places(passwords, ROOM):
        web.post_json("/auth/reset/password", body, status=401)


def test_a_password_that_fails_the_policy_is_not_hashed(busy_site):
    web, passwords = busy_site
    token = link_of(web, "ada")
    with occupied_places(passwords, ROOM):
        web.post_json("/auth/reset/password", {"token": token, "password": "short"}, status=400)


def test_a_session_changes_the_password_a_limited_number_of_times(busy_site, clock):
    web, _ = busy_site
    csrf = {"X-CSRF-Token": web.post_json("/auth/simple", ADA).json["csrfToken"]}
    body = {"oldPassword": Cast.PASSWORD, "password": "short", "confirmPassword": "short"}
    path = "/api/admin/user/change-password"
    for _ in range(OWN_PASSWORDS_PER_MINUTE):
        web.post_json(path, body, headers=csrf, status=400)
    assert "Retry-After" in web.post_json(path, body, headers=csrf, status=429).headers
    clock.advance(60 / OWN_PASSWORDS_PER_MINUTE)
    web.post_json(path, body, headers=csrf, status=400)


def test_personal_tokens_share_that_limit(busy_site, clock):
    web, _ = busy_site
    csrf = {"X-CSRF-Token": web.post_json("/auth/simple", ADA).json["csrfToken"]}
    expiry = format_iso(clock.now() + timedelta(days=1))
    token = {"description": "d", "expiresAt": expiry, "password": Cast.PASSWORD}
    change = {"oldPassword": Cast.PASSWORD, "password": "short", "confirmPassword": "short"}
    for _ in range(OWN_PASSWORDS_PER_MINUTE):
        web.post_json("/api/admin/user/change-password", change, headers=csrf, status=400)
    web.post_json("/api/admin/user/tokens", token, headers=csrf, status=429)


def test_a_link_is_tried_a_limited_number_of_times(busy_site):
    web, _ = busy_site
    link = {"token": link_of(web, "ada"), "password": Cast.PASSWORD}
    for _ in range(OWN_PASSWORDS_PER_MINUTE):
        web.post_json("/auth/reset/password", link, status=400)
    web.post_json("/auth/reset/password", link, status=429)


def test_a_session_at_its_limit_does_not_block_other_password_changes(busy_site):
    web, _ = busy_site
    csrf = {"X-CSRF-Token": web.post_json("/auth/simple", ADA).json["csrfToken"]}
    change = {"oldPassword": Cast.PASSWORD, "password": "short", "confirmPassword": "short"}
    for status in [400] * OWN_PASSWORDS_PER_MINUTE + [429]:
        web.post_json("/api/admin/user/change-password", change, headers=csrf, status=status)
    link = {"token": link_of(web, "ada"), "password": "Better-Horse-84"}
    web.post_json("/auth/reset/password", link, status=200)


def test_a_busy_hasher_uses_up_no_limit(busy_site):
    web, passwords = busy_site
    link = {"token": link_of(web, "ada"), "password": "Better-Horse-84"}
    with occupied_places(passwords, ROOM):
        for _ in range(OWN_PASSWORDS_PER_MINUTE + 1):
            web.post_json("/auth/reset/password", link, status=503)
    web.post_json("/auth/reset/password", link, status=200)


def link_of(web, login):
    path = "/api/admin/user-admin/reset-password"
    answer = web.post_json(path, {"id": login}, headers=ADMIN)
    return answer.json["resetPasswordUrl"].partition("?token=")[2]


class CountedSemaphore(threading.BoundedSemaphore):
    acquired = 0

    def acquire(self, *arguments, **options):
        self.acquired += 1
        return super().acquire(*arguments, **options)


@contextmanager
def occupied_places(passwords, count):
    """`count` threads that are admitted and do nothing."""
    gate, end = threading.Barrier(count + 1), threading.Event()

    def occupy():
        with passwords.admit():
            gate.wait(DEADLINE)
            end.wait(DEADLINE)

    threads = [threading.Thread(target=occupy) for _ in range(count)]
    for thread in threads:
        thread.start()
    gate.wait(DEADLINE)
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join(DEADLINE)


def test_change_password_with_five_former_ones_takes_one_place(busy_site):
    web, passwords = busy_site
    csrf = web.post_json("/auth/simple", ADA).json["csrfToken"]

    def change(old, new):
        body = {"oldPassword": old, "password": new, "confirmPassword": new}
        headers = {"X-CSRF-Token": csrf}
        web.post_json("/api/admin/user/change-password", body, headers=headers, status=200)

    texts = [Cast.PASSWORD, *(f"Better-Horse-{n}4" for n in range(5))]
    for old, new in pairwise(texts):
        change(old, new)
    passwords._admission = CountedSemaphore(ROOM)
    with occupied_places(passwords, ROOM - 1):
        change(texts[-1], "Last-Horse-99")
    assert passwords._admission.acquired == ROOM  # the change is admitted once
