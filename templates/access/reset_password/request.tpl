% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Forgot your password?</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if not sends_mail:
<p>Email isn't configured. Ask an admin for a reset link.</p>
% elif is_sent:
<p class="notice" role="status">If an account has this email address, a reset link is on its way. It works once, within {{lifetime}}.</p>
<p>Didn't get it? Check your spam folder or ask an admin.</p>
% else:
<p>We'll email you a reset link. No email on your account? Ask an admin.</p>
<form method="post" action="{{url('/forgot-password')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
% include("partials/form_field.tpl", field=field)
<button>Send reset link</button>
</form>
% end
<p><a href="{{url('/sign-in')}}">Back to sign-in</a></p>
</div>
