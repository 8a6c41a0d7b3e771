<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Reset your password</title></head>
<body>
<p>Hello{{" " + name if name else ""}},</p>
<p>somebody, probably you, asked to reset your password for sigservice at {{base_url}}.</p>
<p><a href="{{link}}">Set a new password</a></p>
<p>The link works once, within {{lifetime}}. If your program does not open it, copy it:<br>{{link}}</p>
<p>If it was not you, ignore this mail: your password stays as it is.</p>
</body>
</html>
