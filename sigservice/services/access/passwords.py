"""The password policy: Unleash's rules, and no common passwords. Each rule is the sentence that a
password is rejected with."""

import re

from sigservice.errors import OwaspValidationError
from sigservice.services.access import common_passwords

MIN_LENGTH, MAX_LENGTH = 10, 128
RULES = tuple(
    (re.compile(pattern, re.DOTALL), f"The password must {rule}.")
    for pattern, rule in (
        (rf".{{{MIN_LENGTH},}}", f"have at least {MIN_LENGTH} characters"),
        (rf".{{0,{MAX_LENGTH}}}", f"have at most {MAX_LENGTH} characters"),
        (r"(?!.*(.)\1\1).*", "not repeat a character three times in a row"),
        (r".*[a-z].*", "contain a lower-case letter"),
        (r".*[A-Z].*", "contain an upper-case letter"),
        (r".*[0-9].*", "contain a number"),
        (r".*[^A-Za-z0-9].*", "contain a symbol"),
    )
)
UNCOMMON = "The password must not be a common one, even with digits and symbols added."
NAMELESS = "The password must not contain the username or the name of this service."
REQUIREMENTS = (
    f"At least {MIN_LENGTH} characters, with upper and lower case, a number and a symbol. No"
    " common password, no username and no character three times in a row."
)


def list_failed_rules(password: str, *names: str | None) -> list[str]:
    """The rules that the password fails. The last two are checked only if it passes the others, so
    that the answer to a common password is the same as Unleash's."""
    failed_rules = [rule for pattern, rule in RULES if not pattern.fullmatch(password)]
    if not failed_rules and common_passwords.is_common(password):
        failed_rules.append(UNCOMMON)
    if failed_rules in ([], [UNCOMMON]) and common_passwords.contains_name(password, names):
        failed_rules.append(NAMELESS)
    return failed_rules


def check(password: str, *names: str | None) -> None:
    """Raises OwaspValidationError with every rule that the password fails; `names` are the username
    and the email address of the user."""
    failed_rules = list_failed_rules(password, *names)
    if failed_rules:
        detail = {"message": failed_rules[0], "validationErrors": failed_rules, "path": "password"}
        raise OwaspValidationError(failed_rules[0], details=[detail])
