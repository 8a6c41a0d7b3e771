"""Single sign-on with an OpenID provider: pure of HTTP."""
