"""The password policy rule by rule, and the hashes."""

from __future__ import annotations

import pytest

from sigservice.crypto.secrets import Passwords
from sigservice.errors import OwaspValidationError
from sigservice.services.access import passwords
from tests.table_tests import each

GOOD = "Correct-Horse-7"
UNCOMMON, NAMELESS = passwords.UNCOMMON, passwords.NAMELESS
SHORT, LONG, REPEATED, LOWER, UPPER, DIGIT, SPECIAL = (text for _, text in passwords.RULES)


@each(
    "password",
    [
        GOOD,
        "aA1-aA1-aA",
        "aA1-" * 32,
        "Aa1 Aa1 Aa1",
        "ÄäAa1Ää1Ää",
        "Aa1\nAa1\nAa1",
        "Aa1\U0001f600Aa1Aa1A",
        "aaAA11--aa",
        "Aa1\x00Aa1Aa1A",
    ],
)
def test_a_good_password_fails_no_rule(password):
    assert passwords.list_failed_rules(password) == []
    passwords.check(password)


@each(
    "password failed",
    [
        ("", [SHORT, LOWER, UPPER, DIGIT, SPECIAL]),
        ("aA1-aA1-a", [SHORT]),
        ("aA1-" * 32 + "x", [LONG]),
        ("Correct-Horse-777", [REPEATED]),
        ("Correct---Horse-7", [REPEATED]),
        ("CorrectHorse\n\n\n7", [REPEATED]),
        ("Correct-Horse-7ééé", [REPEATED]),
        ("CORRECT-HORSE-7", [LOWER]),
        ("correct-horse-7", [UPPER]),
        ("Correct-Horse-x", [DIGIT]),
        ("CorrectHorse7", [SPECIAL]),
        ("ÄÖÜ-HORSE-7é", [LOWER]),
        ("äöü-horse-7É", [UPPER]),
        ("Correct-Horse-٧", [DIGIT]),
        ("unleash4all", [UPPER, SPECIAL]),
        ("aaaaaaaaaa", [REPEATED, UPPER, DIGIT, SPECIAL]),
    ],
)
def test_every_failed_rule_is_reported(password, failed):
    assert passwords.list_failed_rules(password) == failed
    with pytest.raises(OwaspValidationError) as caught:
        passwords.check(password)
    assert caught.value.message == failed[0]
    assert caught.value.details == [
        {"message": failed[0], "validationErrors": failed, "path": "password"}
    ]


@each(
    "password",
    [
        "Password-123",
        "!!Password1",
        "P@ssw0rd-2024",
        "Pa$$w0rd-99",
        "Qwertyuiop-1",
        "1234567890-Dragon",
        "Iloveyou_2!",
        "Administrator1!",
        "1Q2w3e4r5t-",
        "--Abc123-!?",
        "Welcome1-23",
    ],
)
def test_a_common_password_is_refused_however_it_is_decorated(password):
    assert passwords.list_failed_rules(password) == [UNCOMMON]


@pytest.mark.parametrize("password", ["Correct-Horse-7", "Monkey-Dragon-7", "7k!9283-bX#1"])
def test_several_words_and_random_letters_are_no_common_password(password):
    assert passwords.list_failed_rules(password) == []


@each(
    "password names",
    [
        ("Sigservice-Horse-7", ()),
        ("Horse-UNLEASH-7", ()),
        ("Horse-Ada.King-7", ("ada.king", None)),
        ("Horse-King-7", (None, "King@example.com")),
        ("Xy-Gr1zzly-77#", ("grizzly",)),
        ("Xy-S1gserv1ce-7#", ()),
    ],
)
def test_a_password_with_the_name_of_service_or_user_is_refused(password, names):
    assert passwords.list_failed_rules(password, *names) == [NAMELESS]


def test_a_short_name_and_a_mail_domain_are_no_reason_to_refuse():
    assert passwords.list_failed_rules("Correct-Horse-7", "hor", "x@correct.example") == []


def test_the_list_has_10_000_entries():
    assert len(passwords._load_list().split()) == 10_000


def test_a_refusal_never_repeats_the_password():
    with pytest.raises(OwaspValidationError) as caught:
        passwords.check("hunter2")
    assert "hunter2" not in str(caught.value) + str(caught.value.details)


def test_a_huge_password_is_refused_like_any_other():
    assert passwords.list_failed_rules("aA1-" * 250_000) == [LONG]


@pytest.fixture(scope="module")
def hasher():
    return Passwords()


def test_a_hash_matches_its_password_only(hasher):
    password_hash = hasher.hash(GOOD)
    assert hasher.matches(password_hash, GOOD)
    for password in ("", GOOD + " ", GOOD.lower(), GOOD[:-1], password_hash):
        assert not hasher.matches(password_hash, password)


def test_hashes_are_salted_and_of_the_current_strength(hasher):
    first, second = hasher.hash(GOOD), hasher.hash(GOOD)
    assert first != second
    assert first.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.parametrize("password_hash", [None, "", "x", "$argon2id$", "$2b$12$" + "x" * 53])
def test_nothing_matches_what_is_no_hash(hasher, password_hash):
    assert not hasher.matches(password_hash, GOOD)
    assert not hasher.matches(password_hash, "")


@pytest.mark.parametrize("password", ["é\u0301\U0001f600", "\x00", " ", "x" * 1024])
def test_any_text_can_be_hashed(hasher, password):
    assert hasher.matches(hasher.hash(password), password)
