"""Users, sign-in, sessions, reset links, service accounts, API and personal tokens."""
