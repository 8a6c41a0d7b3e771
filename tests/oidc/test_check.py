"""`sigservice check-oidc`, and the pages of providers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sigservice.commands import oidc
from sigservice.config import load_config
from sigservice.errors import StartError
from sigservice.services.access.oidc.failures import FAILURES
from tests.oidc_provider import CLIENT_ID, SMALL_RSA, run_provider

PAGES = sorted((Path(__file__).parents[2] / "docs" / "providers").glob("[!R]*.md"))


@pytest.fixture
def provider():
    with run_provider(lambda: datetime.now(UTC)) as one:
        yield one


@pytest.fixture
def check(provider, capsys):
    def run(**environ):
        variables = {
            "SERVICE_OIDC_ISSUER": provider.url,
            "SERVICE_OIDC_CLIENT_ID": CLIENT_ID,
            "SERVICE_URL": "http://localhost",
        }
        return oidc.check(variables | environ), capsys.readouterr().out

    return run


def test_provider_without_problems_is_0(check):
    assert check() == (0, "The provider has no problems.\n")


@pytest.mark.parametrize(
    ("change", "environ", "text"),
    [
        ({"issuer": "https://other.example"}, {}, "SERVICE_OIDC_ISSUER"),
        ({"scopes_supported": ["openid", "email"]}, {}, "scope profile (SERVICE_OIDC_SCOPES)"),
        (
            {"claims_supported": ["sub"]},
            {"SERVICE_OIDC_ADMIN_GROUPS": "a", "SERVICE_OIDC_GROUPS_CLAIM": "x.y"},
            "claim x.y (SERVICE_OIDC_GROUPS_CLAIM)",
        ),
        ({"id_token_signing_alg_values_supported": ["HS256"]}, {}, "choose a signing key"),
    ],
)
def test_problem_names_the_variable(check, provider, change, environ, text):
    provider.metadata |= change
    code, output = check(**environ)
    assert code == 1
    assert text in output
    assert output.count("\n") == 1


def test_missing_keys_are_a_problem(check, provider):
    provider.public_keys = [SMALL_RSA.as_dict(private=False)]
    assert "no usable key" in check()[1]


def test_provider_that_is_down_is_a_problem(check, provider):
    provider.status["discovery"] = 500
    code, output = check()
    assert code == 1
    assert "discovery: the status is 500" in output
    assert "SERVICE_OIDC_CA_FILE" in output


def test_clock_that_differs_is_a_problem(check, provider):
    provider.date = "Thu, 01 Jan 2015 00:00:00 GMT"
    assert "The clocks of service and provider differ by" in check()[1]


def test_without_an_issuer_there_is_nothing_to_check():
    with pytest.raises(StartError):
        oidc.check({})


def test_each_error_code_has_a_section():
    text = (PAGES[0].parents[1] / "single-sign-on.md").read_text()
    assert re.findall(r"^### (oidc-.*)$", text, re.M) == list(FAILURES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_variables_of_the_page_are_a_valid_configuration(page, tmp_path):
    (block,) = re.findall(r"^```\n(SERVICE_.*?)```$", page.read_text(), re.M | re.S)
    environ = dict(line.split("=", 1) for line in block.splitlines())
    if file := environ.get("SERVICE_OIDC_CLIENT_SECRET_FILE"):
        path = tmp_path / Path(file).name
        path.write_text("secret")
        environ["SERVICE_OIDC_CLIENT_SECRET_FILE"] = str(path)
    loaded = load_config(None, environ | {"SERVICE_URL": "https://flags.example.com"})
    assert not [risk for risk in loaded.start_risks if "SERVICE_" in risk.option]
    assert set(environ) <= set(loaded.sources.values())
