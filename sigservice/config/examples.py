"""Examples of option values, for error messages and the documentation."""

from sigservice.config.option import Option

_OWN = {
    "server.port": "4242",
    "server.pipe": "/run/sigservice.sock",
    "dataDir": "/var/lib/sigservice",
    "postgresBin": "/usr/lib/postgresql/17/bin",
    "db.host": "db.example.com",
    "db.sslCertFile": "/etc/ssl/db/client.pem",
    "db.sslKeyFile": "/etc/ssl/db/client.key",
    "environmentEnableOverrides": "development,production",
    "email.host": "smtp.example.com",
    "email.sender": "flags@example.com",
    "email.smtpuser": "flags",
    "frontendApi.refreshIntervalInMs": "20000",
    "outgoing.noProxy": "localhost,.example.com",
    "versionCheck.url": "https://version.example.com",
}


def example(option: Option) -> str:
    """Valid text for the option's variable: its own example, its default or its type's example."""
    default = option.default
    if option.path in _OWN:
        return _OWN[option.path]
    if isinstance(default, int | str) and not isinstance(default, bool) and default:
        return option.type.example if option.secret else str(default)
    return option.type.example


def example_in_code(option: Option) -> str:
    """The same value as Python code."""
    text = example(option)
    try:
        return repr(option.type.parse(text))
    except ValueError:  # a value for code only, or a file
        return text
