"""Canaille, an identity provider with one user. Prints its address, serves until killed."""

from __future__ import annotations

import os
import sys
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIServer, make_server

USER = {
    "user_name": "eva",
    "password": "Correct-Horse-7",
    "formatted_name": "Eva Example",
    "family_name": "Example",
    "emails": ["eva@example.org"],
}


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


def main() -> None:
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    from canaille import create_app
    from canaille.app import models
    from canaille.backends import Backend
    from canaille.oidc.provider import AuthorizationCodeGrant
    from joserfc.jwk import JWKRegistry

    def find_code(_grant: Any, code: str, client: Any) -> Any:
        codes = Backend.instance.query(models.AuthorizationCode, code=code)
        return next((row for row in codes if row.client == client and not row.is_expired()), None)

    # Its backend in memory finds what has this code or this client, so that it exchanges any code
    # of the client for any other.
    AuthorizationCodeGrant.query_authorization_code = find_code
    server = make_server("127.0.0.1", 0, None, server_class=Server)
    key = JWKRegistry.generate_key("RSA", 2048)
    key.ensure_kid()
    app = create_app(
        config={
            "TESTING": True,
            "SECRET_KEY": "of a test",
            "WTF_CSRF_ENABLED": False,
            "PREFERRED_URL_SCHEME": "http",
            "SERVER_NAME": f"127.0.0.1:{server.server_port}",
            "CANAILLE": {
                "DATABASE": "memory",
                "JAVASCRIPT": False,
                "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc"]}},
            },
            "CANAILLE_OIDC": {
                "DYNAMIC_CLIENT_REGISTRATION_OPEN": True,
                "ACTIVE_JWKS": [key.as_dict(private=True)],
            },
        }
    )
    with app.app_context():
        Backend.instance.save(models.User(**USER))
    server.set_app(app)
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
