"""Single sign-on: what must be set together, and risks."""

from __future__ import annotations

import pytest

from sigservice.config import check, load_config
from tests.config.kit import problems
from tests.config.oidc_rows import CLIENT, ISSUER, URL
from tests.table_tests import each

ALL = ISSUER | CLIENT | URL
GOOGLE = {"SERVICE_OIDC_ISSUER": "https://accounts.google.com"}
CREATES = {"SERVICE_OIDC_CREATE_USERS": "true"}
NO_PASSWORDS = {"SERVICE_PASSWORD_SIGN_IN": "false"}


@pytest.mark.parametrize(
    ("environ", "missing"),
    [
        (ISSUER | URL, "SERVICE_OIDC_CLIENT_ID: must be set with SERVICE_OIDC_ISSUER;"),
        (ISSUER | CLIENT, "SERVICE_URL: must be set with SERVICE_OIDC_ISSUER;"),
        (CLIENT, "SERVICE_OIDC_ISSUER: must be set with SERVICE_OIDC_CLIENT_ID;"),
        (NO_PASSWORDS, "SERVICE_OIDC_ISSUER: must be set with SERVICE_PASSWORD_SIGN_IN=false;"),
    ],
)
def test_missing_variable_is_a_start_error(environ, missing):
    (line,) = problems(None, environ)
    assert line.startswith(missing)


@each(
    "text",
    [
        "http://id.example",
        "https://id.example?x",
        "https://id.example/#",
        "https://ada@id.example",
        "ftp://id.example",
        "https://",
        "id.example",
    ],
)
def test_issuer_is_an_https_url(text):
    (line,) = problems(None, ALL | {"SERVICE_OIDC_ISSUER": text})
    assert line.startswith("SERVICE_OIDC_ISSUER: ")


@pytest.mark.parametrize("host", ["localhost", "id.localhost", "127.0.0.2", "[::1]"])
def test_issuer_may_be_http_on_this_machine(host):
    load_config(None, ALL | {"SERVICE_OIDC_ISSUER": f"http://{host}:8080"})


@each("item", ["state=x", "request=x", "prompt=none", "max_age=1", "x"])
def test_parameters_of_the_flow_cannot_be_set(item):
    (line,) = problems(None, ALL | {"SERVICE_OIDC_AUTHORIZATION_PARAMETERS": f"a=b,{item}"})
    assert line.startswith("SERVICE_OIDC_AUTHORIZATION_PARAMETERS: ")


def find_risks(environ):
    risks = check.list_risks(load_config(None, ALL | environ))
    return {(risk.severity, risk.option.rpartition(".")[2]) for risk in risks}


@each(
    "environ severity option",
    [
        (GOOGLE | CREATES, "danger", "createUsers"),
        (GOOGLE | {"SERVICE_OIDC_TRUST_EMAIL": "true"}, "warning", "trustEmail"),
        ({"SERVICE_OIDC_EMAIL_CLAIM": "upn"}, "warning", "emailClaim"),
        (NO_PASSWORDS, "danger", "passwordSignIn"),
        (NO_PASSWORDS | {"SERVICE_OIDC_ADMIN_GROUPS": "a"}, "warning", "passwordSignIn"),
        ({"SERVICE_URL": "http://flags.example"}, "warning", "issuer"),
        ({"SERVICE_OIDC_ADMIN_GROUPS": "a"}, "warning", "ttlHours"),
        ({"AUTH_TYPE": "demo"}, "note", "issuer"),
    ],
)
def test_risk_is_found(environ, severity, option):
    assert (severity, option) in find_risks(environ)
    assert (severity, option) not in find_risks({})


def test_public_issuer_is_no_danger_with_required_claims():
    claims = {"SERVICE_OIDC_REQUIRED_CLAIMS": "hd=a.example"}
    assert ("danger", "createUsers") not in find_risks(GOOGLE | CREATES | claims)


def test_break_glass_account_removes_the_danger():
    risks = find_risks(NO_PASSWORDS | {"SERVICE_BREAK_GLASS_USERS": "ada"})
    assert {severity for severity, option in risks if option == "passwordSignIn"} == set()


def test_report_has_the_redirect_uri(capsys):
    check.main(ALL)
    output = capsys.readouterr().out
    assert "  redirect URI: https://flags.example/auth/oidc/callback\n" in output
    assert "  back-channel logout URI: https://flags.example/auth/oidc/backchannel-logout" in output
    check.main(ALL | {"SERVICE_OIDC_SIGN_OUT": "true"})
    output = capsys.readouterr().out
    assert "  post-logout redirect URI: https://flags.example/auth/oidc/signed-out\n" in output
    check.main({})
    assert "redirect URI" not in capsys.readouterr().out
