"""The 10,000 most common passwords, which are rejected; see common_passwords.LICENSE."""

import gzip
import re
from functools import cache
from pathlib import Path

MIN_WORD = 4  # shorter words are part of many good passwords
CONTEXT_WORDS = ("sigservice", "unleash")
_SPECIAL = re.compile(r"^[\W_]+|[\W_]+$")
_BEFORE, _AFTER = re.compile(r"^[\W\d_]+"), re.compile(r"[\W\d_]+$")
_LOOKALIKES = str.maketrans("013457@$!", "oieastasi")


def is_common(password: str) -> bool:
    """Whether the list contains it in any case, also with look-alikes for letters (`P@ssw0rd`) or
    with digits and symbols before or after it (`Password-123`)."""
    whole = password.lower()
    after, before = _AFTER.sub("", whole), _BEFORE.sub("", whole)
    cores = {whole, _SPECIAL.sub("", whole), after, before, _BEFORE.sub("", after)}
    cores |= {core.translate(_LOOKALIKES) for core in cores}
    common = _load_list()
    return any(
        f"\n{core}\n" in common for core in cores if len(core) >= MIN_WORD and "\n" not in core
    )


def contains_name(password: str, names: tuple[str | None, ...]) -> bool:
    """Whether it contains the service's name or one of `names`, also with look-alikes for letters.
    `names` are usernames or email addresses; of these the part before the @ counts."""
    words = [(name or "").partition("@")[0].lower() for name in names]
    lower = password.lower()
    spellings = (lower, lower.translate(_LOOKALIKES))
    words = [word for word in (*CONTEXT_WORDS, *words) if len(word) >= MIN_WORD]
    return any(word in spelling for word in words for spelling in spellings)


@cache
def _load_list() -> str:
    """One line per password. Text takes a tenth of the memory of a set; a search takes 50 µs."""
    packed = Path(__file__).with_name("common_passwords.txt.gz").read_bytes()
    return "\n" + gzip.decompress(packed).decode()
