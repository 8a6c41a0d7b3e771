"""Types of the encryption keys: text and a file."""

from sigservice.config.parse import PATH, InvalidValue, ValueType, text_type
from sigservice.config.tls import read_text
from sigservice.crypto.encryption import parse_keys

# In the documentation, which a copied key would come from: see risks.py.
PUBLIC_KEY = "cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4="


def _check_keys(text: str) -> str:
    try:
        return ",".join(parse_keys(text))
    except ValueError as error:
        raise InvalidValue(str(error)) from None


def _check_file(path: str) -> str:
    _check_keys(read_text(path))
    return path


KEYS = text_type(
    "a comma-separated list of Fernet keys",
    PUBLIC_KEY,
    _check_keys,
)
KEY_FILE = ValueType(
    "a readable file with one Fernet key per line",
    "/run/secrets/encryption-key",
    lambda text: _check_file(PATH.parse(text)),
    lambda value: _check_file(PATH.check(value)),
)
