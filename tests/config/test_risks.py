"""What `check-config` calls risky, how grave it is, and the exit code that follows."""

from __future__ import annotations

import json

import pytest

from sigservice.config import check, load_config
from sigservice.config.encryption import PUBLIC_KEY
from tests.config.kit import PEM_FILE

CROSSED_PATH = "metricsRateLimiting.clientRegisterMaxPerMinute"
CAREFUL = {
    "HTTP_PORT": "4242",
    "SERVICE_URL": "https://flags.example",
    "SERVICE_TRUSTED_PROXY": "10.0.0.7",
    "SECURE_HEADERS": "true",
    "SERVICE_DEFAULT_ADMIN_USERNAME": "ada",
    "SERVICE_DEFAULT_ADMIN_PASSWORD": "Correct-Horse-7",
    "SERVICE_METRICS_TOKEN": "0123456789abcdef",
    "DATABASE_URL": "postgres://ada:hunter2@db.example/flags?sslmode=verify-full",
    "SERVICE_ENCRYPTION_KEY": "hunter2hunter2hunter2hunter2hunter2hunter2A=",
}
MAIL = {"EMAIL_HOST": "smtp.example", "EMAIL_SENDER": "flags@example.com"}
CA = {"DATABASE_URL": "postgres://ada:hunter2@db.example/flags", "DATABASE_SSL_CA_FILE": PEM_FILE}


@pytest.fixture
def find_severities(capsys):
    """The risks of these variables: {(option, severity)}."""

    def run(environ=None):
        check.main(environ or {}, "json")
        risks = json.loads(capsys.readouterr().out)["risks"]
        assert all(set(risk) == {"severity", "option", "message"} for risk in risks)
        return {(risk["option"], risk["severity"]) for risk in risks}

    return run


def test_a_careful_configuration_has_no_risks(find_severities):
    assert find_severities(CAREFUL) == {("email.host", "warning")}
    assert find_severities(CAREFUL | MAIL) == set()


def test_the_exit_code_says_how_grave_the_risks_are(capsys):
    for environ, codes in (
        ({"AUTH_TYPE": "none"}, {"": 0, "note": 3, "warning": 3, "danger": 3}),
        (CAREFUL, {"": 0, "note": 3, "warning": 3, "danger": 0}),  # no mail server
        (CAREFUL | MAIL, {"": 0, "note": 0, "warning": 0, "danger": 0}),
        ({"HTTP_PORT": "wr0ng"}, {"": 2, "note": 2, "danger": 2}),
    ):
        for fail_on, code in codes.items():
            for form in ("text", "json"):
                assert check.main(environ, form, fail_on) == code
    capsys.readouterr()


@pytest.mark.parametrize(
    ("environ", "path", "severity"),
    [
        ({"ALL_PROXY": "socks5h://127.0.0.1:1080"}, "outgoing.allProxy", "warning"),
        ({}, "server.unleashUrl", "warning"),
        ({}, "email.host", "warning"),
        ({"SERVICE_DATA_DIR": ":temporary:"}, "dataDir", "danger"),
        ({"SERVICE_ARCHIVE_DIR": "/does/not/exist"}, "archiveDir", "warning"),
        (CA | {"SERVICE_DATA_DIR": ":temporary:"}, "signals.encryptionKey", "warning"),
        ({"SERVICE_ENCRYPTION_KEY": PUBLIC_KEY}, "signals.encryptionKey", "danger"),
        (
            {"SERVICE_DEFAULT_ADMIN_USERNAME": "a", "SERVICE_DEFAULT_ADMIN_PASSWORD": "short"},
            "authentication.initialAdminUser",
            "warning",
        ),
        ({"AUTH_TYPE": "none"}, "authentication.type", "danger"),
        ({"AUTH_TYPE": "demo"}, "authentication.type", "danger"),
        ({"AUTH_TYPE": "custom"}, "authentication.type", "warning"),
        ({"AUTH_ENABLE_API_TOKEN": "false"}, "authentication.enableApiToken", "warning"),
        ({"INIT_ADMIN_API_TOKENS": "*:*.short"}, "authentication.initApiTokens", "warning"),
        ({"SERVICE_URL": "http://flags.example"}, "server.unleashUrl", "warning"),
        (
            {"SERVICE_URL": "https://flags.example", "BASE_URI_PATH": "/x"},
            "server.unleashUrl",
            "warning",
        ),
        ({"SERVICE_URL": "https://flags.example"}, "server.trustedProxy", "warning"),
        (
            {"SERVICE_URL": "http://flags.example", "SECURE_HEADERS": "on"},
            "secureHeaders",
            "warning",
        ),
        ({"SERVICE_TRUSTED_PROXY": "10.0.0.1,0.0.0.0/0"}, "server.trustedProxy", "danger"),
        ({"SERVICE_TRUSTED_PROXY": "::/0"}, "server.trustedProxy", "danger"),
        ({"SERVICE_WEBHOOK_ALLOW_PRIVATE": "true"}, "webhooks.allowPrivate", "warning"),
        ({"SERVICE_WEBHOOK_ALLOWED_HOSTS": "0.0.0.0/0"}, "webhooks.allowedHosts", "warning"),
        ({"SERVICE_METRICS_TOKEN": "short"}, "server.metricsToken", "warning"),
        (
            {"CSP_ALLOWED_SCRIPT": "'unsafe-inline'"},
            "additionalCspAllowedDomains.scriptSrc",
            "warning",
        ),
        ({"SIMPLE_LOGIN_LIMIT_PER_MINUTE": "0"}, "rateLimiting.simpleLoginMaxPerMinute", "warning"),
        ({"SERVER_KEEPALIVE_TIMEOUT": "0"}, "keepAliveTimeout", "warning"),
        ({"DATABASE_HOST": "localhost"}, "db.password", "warning"),
        ({"DATABASE_URL": "postgres://a:b@db.example/x"}, "db.ssl", "warning"),
        ({"DATABASE_URL": "postgres://a:b@db.example/x?sslmode=require"}, "db.ssl", "warning"),
        (CA, "db.ssl", "warning"),
        ({"DATABASE_HOST": "/run/postgresql", "DATABASE_SSL": "true"}, "db.ssl", "warning"),
        (MAIL | {"EMAIL_PORT": "587"}, "email.secure", "warning"),
        ({"EMAIL_HOST": "smtp.example"}, "email.sender", "warning"),
        (MAIL | {"EMAIL_USER": "ada"}, "email.smtppass", "warning"),
        ({"CHECK_VERSION": "treu"}, "versionCheck.enable", "warning"),
        ({"SERVICE_URI": "x"}, "SERVICE_URI", "warning"),
        ({"CLIENT_METRICS_RATE_LIMIT_PER_MINUTE": "5"}, CROSSED_PATH, "warning"),
    ],
    ids=str,
)
def test_a_risk_and_its_severity(find_severities, environ, path, severity):
    assert (path, severity) in find_severities(environ)
    assert (path, severity) not in find_severities(CAREFUL | MAIL)


def test_what_is_configured_with_care_is_no_risk(find_severities):
    for environ, path in (
        ({"DATABASE_URL": "postgres://a:b@127.0.0.1/x"}, "db.ssl"),
        ({"DATABASE_URL": "postgres://a:b@db/x"}, "db.ssl"),
        ({"INIT_FRONTEND_API_TOKENS": "*:dev.short"}, "authentication.initApiTokens"),
        ({"DATABASE_HOST": "/var/run/postgresql"}, "db.password"),
        ({"SERVICE_URL": "http://localhost:4242"}, "server.unleashUrl"),
        ({"CHECK_VERSION": "off"}, "versionCheck.enable"),
        ({"EMAIL_HOST": "localhost", "EMAIL_PORT": "25"}, "email.secure"),
        ({"SERVICE_TRUSTED_PROXY": "10.0.0.0/8,localhost"}, "server.trustedProxy"),
        (
            {"BASE_URI_PATH": "/x", "SERVICE_URL": "https://flags.example/x"},
            "server.unleashUrl",
        ),
    ):
        assert not {(path, "warning"), (path, "danger")} & find_severities(environ)


def test_a_ca_without_verification_is_named_as_such():
    (note,) = load_config(None, CA).start_risks
    assert "the CA is set but not used" in note.message


def test_a_cookie_that_browsers_refuse_is_a_risk():
    options = {"session": {"cookieName": "__Host-sid"}, "server": {"baseUriPath": "/x"}}
    risks = [risk.option for risk in check.list_risks(load_config(options, {}))]
    assert risks.count("session.cookieName") == 2
    options["server"] = {"unleashUrl": "https://flags.example/x"}
    risks = [risk.option for risk in check.list_risks(load_config(options, {}))]
    assert risks.count("session.cookieName") == 1


@pytest.mark.parametrize("url", ["https://flags.example/", "https://flags.example/x"])
def test_the_default_name_of_the_cookie_is_no_risk(url):
    loaded = load_config({"server": {"unleashUrl": url}}, {})
    assert "session.cookieName" not in [risk.option for risk in check.list_risks(loaded)]


def test_the_removed_event_hook_is_a_risk():
    risks = check.list_risks(load_config({"eventHook": print}, {}))
    assert ("warning", "eventHook") in [(risk.severity, risk.option) for risk in risks]


def test_key_files_that_others_can_read_are_risks(find_severities, tmp_path):
    file = tmp_path / "encryption.key"
    file.write_text(PUBLIC_KEY)
    configured = {"SERVICE_ENCRYPTION_KEY_FILE": str(file)}
    for mode, is_risk in ((0o644, True), (0o640, True), (0o600, False)):
        file.chmod(mode)
        risk = ("signals.encryptionKeyFile", "warning")
        assert (risk in find_severities(configured)) == is_risk
        risk = ("signals.encryptionKey", "warning")
        assert (risk in find_severities({"SERVICE_DATA_DIR": str(tmp_path)})) == is_risk
