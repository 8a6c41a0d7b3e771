"""Libraries that a start doesn't need: each is imported when an attribute of it is used first.

They are here, and not imports in functions, so that one list shows what is imported late. Use
`library.name`; `from library import name` would import the library at once. The modules of the
service that need the database are in `services/late.py` and `web/late.py`.
"""

import importlib
from typing import TYPE_CHECKING, Any


class Late:
    """Stands for the module of this name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


if TYPE_CHECKING:
    from email import headerregistry
    from email import message as email_message
    from email import policy as email_policy
    from http import client as http_client

    import jsonpatch
    import markdown_it
    import prometheus_client
    import psycopg2
    import standardwebhooks
    import urllib3
    from cryptography import exceptions as cryptography_exceptions
    from cryptography import fernet, x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa
    from joserfc import jwk, jws
    from markdown_it.common import utils as markdown_utils
    from prometheus_client import core as prometheus_core
    from psycopg2 import extensions as psycopg2_extensions
    from ruamel import yaml as ruamel_yaml
    from ruamel.yaml import error as yaml_error
    from ruamel.yaml import events as yaml_events
    from urllib3 import connection as urllib3_connection
    from urllib3 import exceptions as urllib3_exceptions
    from urllib3 import util as urllib3_util
else:
    headerregistry = Late("email.headerregistry")
    email_message = Late("email.message")
    email_policy = Late("email.policy")
    http_client = Late("http.client")
    jsonpatch = Late("jsonpatch")
    markdown_it = Late("markdown_it")
    markdown_utils = Late("markdown_it.common.utils")
    prometheus_client = Late("prometheus_client")
    psycopg2 = Late("psycopg2")
    psycopg2_extensions = Late("psycopg2.extensions")
    standardwebhooks = Late("standardwebhooks")
    urllib3 = Late("urllib3")
    cryptography_exceptions = Late("cryptography.exceptions")
    fernet = Late("cryptography.fernet")
    x509 = Late("cryptography.x509")
    hashes = Late("cryptography.hazmat.primitives.hashes")
    padding = Late("cryptography.hazmat.primitives.asymmetric.padding")
    rsa = Late("cryptography.hazmat.primitives.asymmetric.rsa")
    jwk = Late("joserfc.jwk")
    jws = Late("joserfc.jws")
    prometheus_core = Late("prometheus_client.core")
    urllib3_connection = Late("urllib3.connection")
    urllib3_exceptions = Late("urllib3.exceptions")
    urllib3_util = Late("urllib3.util")

    class _Late:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module(self._name), name)

    headerregistry = _Late("email.headerregistry")
    email_message = _Late("email.message")
    email_policy = _Late("email.policy")
    http_client = _Late("http.client")
    jsonpatch = _Late("jsonpatch")
    markdown_it = _Late("markdown_it")
    markdown_utils = _Late("markdown_it.common.utils")
    prometheus_client = _Late("prometheus_client")
    ruamel_yaml = Late("ruamel.yaml")
    standardwebhooks = _Late("standardwebhooks")
    urllib3 = _Late("urllib3")
    cryptography_exceptions = _Late("cryptography.exceptions")
    fernet = _Late("cryptography.fernet")
    x509 = _Late("cryptography.x509")
    hashes = _Late("cryptography.hazmat.primitives.hashes")
    padding = _Late("cryptography.hazmat.primitives.asymmetric.padding")
    rsa = _Late("cryptography.hazmat.primitives.asymmetric.rsa")
    jwk = _Late("joserfc.jwk")
    jws = _Late("joserfc.jws")
    prometheus_core = _Late("prometheus_client.core")
    urllib3_connection = _Late("urllib3.connection")
    urllib3_exceptions = _Late("urllib3.exceptions")
    urllib3_util = _Late("urllib3.util")
    yaml_error = Late("ruamel.yaml.error")
    yaml_events = Late("ruamel.yaml.events")
