Hello{{" " + name if name else ""}},

Someone, probably you, requested a password reset for sigservice at
{{base_url}}

Open this link to set a new password. It works once and expires in {{lifetime}}:

{{link}}

If it wasn't you, ignore this mail. Your password doesn't change.
