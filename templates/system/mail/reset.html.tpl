<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Reset your password</title></head>
<body>
<p>Hello{{" " + name if name else ""}},</p>
<p>Someone, probably you, requested a password reset for sigservice at {{base_url}}.</p>
<p><a href="{{link}}">Set a new password</a></p>
<p>The link works once and expires in {{lifetime}}. If it doesn't open, paste it into your browser:<br>{{link}}</p>
<p>If it wasn't you, ignore this mail. Your password doesn't change.</p>
</body>
</html>
