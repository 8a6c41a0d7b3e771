"""Settings of signature tokens: each mistake is named at its field."""

from __future__ import annotations

from sigservice.services.problems import Problems
from sigservice.services.signals.signature_schemes import SignatureSettings
from sigservice.services.signals.signature_settings import check_settings, find_sns_host
from sigservice.services.signals.signatures import generate_secret
from tests.table_tests import each

TOPIC = "arn:aws:sns:us-east-2:123456789012:alarms"
GENERIC = {"scheme": "generic", "header": "X-Signature"}


def find_paths(settings, secret=""):
    problems = Problems()
    check_settings(SignatureSettings(**settings), secret, problems)
    return [detail["path"].removeprefix("signature.") for detail in problems.details]


VALID = [
    {"scheme": "github"},
    {"scheme": "gitlab"},
    {"scheme": "standard-webhooks", "toleranceSeconds": 60},
    {"scheme": "grafana", "header": "X-Mine", "timestampHeader": "X-Time"},
    {"scheme": "aws-sns", "topics": [TOPIC, "arn:aws-cn:sns:cn-north-1:123456789012:a.fifo"]},
    {"scheme": "stripe", "header": "Calendly-Webhook-Signature"},
    GENERIC | {"algorithm": "sha1", "encoding": "base64", "prefix": "sha1="},
    GENERIC | {"timestampHeader": "X-Time", "content": "v0:{timestamp}:{body}"},
]


@each("settings", VALID)
def test_valid_settings_with_their_own_secret(settings):
    assert find_paths(settings, generate_secret(SignatureSettings(**settings))) == []


@each(
    "settings path",
    [
        ({"scheme": "github", "header": "X-Mine"}, "header"),
        ({"scheme": "slack", "content": "{body}!"}, "content"),
        ({"scheme": "github", "topics": [TOPIC]}, "topics"),
        ({"scheme": "grafana", "algorithm": "sha1"}, "algorithm"),
        ({"scheme": "grafana", "header": "Not a header"}, "header"),
        ({"scheme": "grafana", "timestampHeader": "Authorization"}, "timestampHeader"),
        ({"scheme": "github", "toleranceSeconds": 0}, "toleranceSeconds"),
        ({"scheme": "github", "toleranceSeconds": 86_401}, "toleranceSeconds"),
        ({"scheme": "aws-sns"}, "topics"),
        ({"scheme": "aws-sns", "topics": [TOPIC] * 21}, "topics"),
        ({"scheme": "aws-sns", "topics": [TOPIC, "alarms"]}, "topics[1]"),
        ({"scheme": "stripe", "timestampHeader": "X-Time"}, "timestampHeader"),
        ({"scheme": "generic"}, "header"),
        (
            GENERIC | {"timestampHeader": "x-signature", "content": "{timestamp}{body}"},
            "timestampHeader",
        ),
        (GENERIC | {"prefix": "é"}, "prefix"),
        (GENERIC | {"prefix": "x" * 51}, "prefix"),
        (GENERIC | {"content": "{timestamp}"}, "content"),
        (GENERIC | {"content": "{body}{body}"}, "content"),
        (GENERIC | {"content": "{body}{id}"}, "content"),
        (GENERIC | {"content": "{timestamp}.{body}"}, "content"),
        (GENERIC | {"timestampHeader": "X-Time"}, "content"),
        (GENERIC | {"content": "{body}" + "x" * 200}, "content"),
    ],
)
def test_a_mistake_is_named_at_its_field(settings, path):
    assert find_paths(settings) == [path]


@each(
    "scheme secret",
    [
        ("github", "short"),
        ("github", "x" * 501),
        ("github", "a secret\nwith two lines"),
        ("github", "a secret \ud800"),
        ("standard-webhooks", "whsec_not base64!"),
        ("gitlab", "whsec_dG9vIHNob3J0"),
    ],
)
def test_a_secret_that_can_not_sign_is_refused(scheme, secret):
    assert find_paths({"scheme": scheme}, secret) == ["secret"]


def test_sns_has_no_secret():
    assert find_paths({"scheme": "aws-sns", "topics": [TOPIC]}, "a secret") == ["secret"]


@each(
    "topic host",
    [
        (TOPIC, "sns.us-east-2.amazonaws.com"),
        ("arn:aws-us-gov:sns:us-gov-west-1:123456789012:a", "sns.us-gov-west-1.amazonaws.com"),
        ("arn:aws-cn:sns:cn-north-1:123456789012:a", "sns.cn-north-1.amazonaws.com.cn"),
        ("arn:aws-eusc:sns:eusc-de-east-1:123456789012:a", "sns.eusc-de-east-1.amazonaws.eu"),
        ("arn:aws:sns:s3:123456789012:a", ""),
        ("arn:aws-x:sns:us-east-2:123456789012:a", ""),
        ("arn:aws:sns:s3-us-west-2:123456789012:a", ""),  # a host of S3 would begin like that
        ("arn:aws:sns:us-east-2.evil:123456789012:a", ""),
        ("arn:aws:sqs:us-east-2:123456789012:a", ""),
        (TOPIC + "\n", ""),
        ("", ""),
    ],
)
def test_host_of_a_topic(topic, host):
    assert find_sns_host(topic) == host
