% rebase("layout.tpl", title=title, live=False)
<h1>Your account</h1>
<dl>
<div><dt>User name</dt><dd>{{identity.username}}</dd></div>
% if identity.email:
<div><dt>E-mail</dt><dd>{{identity.email}}</dd></div>
% end
<div><dt>Role</dt><dd>{{identity.role}}</dd></div>
</dl>
% if not authentication.has_passwords:
<p class="hint">{{authentication.note}}</p>
% else:
<div class="narrow">
<h2>Change password</h2>
% include("partials/problems.tpl")
<form method="post" action="{{url('/profile/password')}}">
% include("partials/csrf.tpl")
<input name="username" value="{{identity.username}}" autocomplete="username" aria-label="User name" readonly hidden>
% include("partials/field.tpl", name="old", label="Old password", value="", kind="password", autocomplete="current-password", required=True)
% include("partials/field.tpl", name="password", label="New password", value="", kind="password", autocomplete="new-password", required=True)
% include("partials/field.tpl", name="confirm", label="New password again", value="", kind="password", autocomplete="new-password", required=True)
% include("partials/check.tpl", name="revoke_tokens", label="Also revoke my personal API tokens", checked=False)
<button>Change password</button>
</form>
% include("users/rules.tpl")
</div>
% end
