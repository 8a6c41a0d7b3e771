<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Welcome to sigservice</title></head>
<body>
<p>Hello{{" " + name if name else ""}},</p>
<p>you are invited to sigservice, which switches features on and off, at {{base_url}}.</p>
<p><a href="{{link}}">Set your password</a></p>
<p>The link works once, within {{lifetime}}. If your program does not open it, copy it:<br>{{link}}</p>
<p>Then sign in. If the link has expired, <em>Forgot your password?</em> on the sign-in page sends another.</p>
</body>
</html>
