<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Welcome to sigservice</title></head>
<body>
<p>Hello{{" " + name if name else ""}},</p>
<p>You've been invited to sigservice at {{base_url}}.</p>
<p><a href="{{link}}">Set your password</a></p>
<p>The link works once and expires in {{lifetime}}. If it doesn't open, paste it into your browser:<br>{{link}}</p>
<p>Then sign in. If the link has expired, request another with <em>Forgot your password?</em> on the sign-in page.</p>
</body>
</html>
