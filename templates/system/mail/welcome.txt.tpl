Hello{{" " + name if name else ""}},

You've been invited to sigservice at
{{base_url}}

Open this link to set your password. It works once and expires in {{lifetime}}:

{{link}}

Then sign in. If the link has expired, request another with "Forgot your password?" on the sign-in
page.
