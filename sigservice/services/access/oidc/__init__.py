"""Single sign-on with an OpenID provider, without the service's own requests and responses."""
