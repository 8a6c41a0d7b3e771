% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Forgot your password?</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if not sends_mail:
<p>This server sends no mails. Ask an admin for a link by which you can set a new password.</p>
% elif is_sent:
<p class="notice" role="status">If a user has the address <bdi>{{email}}</bdi>, a mail with a link is on its way. The link works once, within {{lifetime}}.</p>
<p>Nothing came? Look among the unwanted mails, or ask an admin for a link.</p>
% else:
<p>You get a mail with a link by which you can set a new one. Without an e-mail address in your account, ask an admin for a link.</p>
<form method="post" action="{{url('/forgot-password')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
% include("partials/field.tpl", name="email", label="E-mail address", value=email, kind="email", autocomplete="email", required=True)
<button>Send the link</button>
</form>
% end
<p><a href="{{url('/sign-in')}}">Back to sign-in</a></p>
</div>
