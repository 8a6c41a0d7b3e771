Hello{{" " + name if name else ""}},

somebody, probably you, asked to reset your password for sigservice at
{{base_url}}

Open this link within {{lifetime}} to set a new one. It works once:

{{link}}

If it was not you, ignore this mail: your password stays as it is.
