Hello{{" " + name if name else ""}},

you are invited to sigservice, which switches features on and off, at
{{base_url}}

Open this link within {{lifetime}} to set your password. It works once:

{{link}}

Then sign in. If the link has expired, "Forgot your password?" on the sign-in page sends another.
