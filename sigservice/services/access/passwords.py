"""The password policy: Unleash's rules, and no common passwords. Each rule is the message about a
password that fails it."""

import gzip
import re
from functools import cache
from pathlib import Path

from sigservice.errors import OwaspValidationError

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
MIN_WORD = 4  # shorter words are part of many good passwords
CONTEXT_WORDS = ("sigservice", "unleash")
_SPECIAL = re.compile(r"^[\W_]+|[\W_]+$")
_BEFORE, _AFTER = re.compile(r"^[\W\d_]+"), re.compile(r"[\W\d_]+$")
_LOOKALIKES = str.maketrans("013457@$!", "oieastasi")


def list_failed_rules(password: str, *names: str | None) -> list[str]:
    """The rules that the password fails. The last two are checked only if it passes the others, so
    that the answer to a common password is the same as Unleash's."""
    failed_rules = [rule for pattern, rule in RULES if not pattern.fullmatch(password)]
    if not failed_rules and is_common(password):
        failed_rules.append(UNCOMMON)
    if failed_rules in ([], [UNCOMMON]) and contains_name(password, names):
        failed_rules.append(NAMELESS)
    return failed_rules


def check(password: str, *names: str | None) -> None:
    """Raises OwaspValidationError with every rule that the password fails; `names` are the username
    and the email address of the user."""
    failed_rules = list_failed_rules(password, *names)
    if failed_rules:
        detail = {"message": failed_rules[0], "validationErrors": failed_rules, "path": "password"}
        raise OwaspValidationError(failed_rules[0], details=[detail])


def is_common(password: str) -> bool:
    """Whether the list contains the password. Ignores case, look-alikes for letters (`P@ssw0rd`),
    and digits and symbols before or after it (`Password-123`)."""
    whole = password.lower()
    after, before = _AFTER.sub("", whole), _BEFORE.sub("", whole)
    cores = {whole, _SPECIAL.sub("", whole), after, before, _BEFORE.sub("", after)}
    cores |= {core.translate(_LOOKALIKES) for core in cores}
    common = _load_list()
    return any(
        f"\n{core}\n" in common for core in cores if len(core) >= MIN_WORD and "\n" not in core
    )


def contains_name(password: str, names: tuple[str | None, ...]) -> bool:
    """Whether the password contains the service's name or one of `names`, also with look-alikes for
    letters. `names` are usernames or email addresses; only the part before the @ counts."""
    words = [(name or "").partition("@")[0].lower() for name in names]
    lower = password.lower()
    spellings = (lower, lower.translate(_LOOKALIKES))
    words = [word for word in (*CONTEXT_WORDS, *words) if len(word) >= MIN_WORD]
    return any(word in spelling for word in words for spelling in spellings)


@cache
def _load_list() -> str:
    """The list, one line per password. Text takes a tenth of the memory of a set; a search takes 50
    µs."""
    packed = Path(__file__).with_name("common_passwords.txt.gz").read_bytes()
    return "\n" + gzip.decompress(packed).decode()
