% rebase("layout.tpl", title=title, live=False)
<h1>Your account</h1>
<dl>
<div><dt>Username</dt><dd>{{identity.username}}</dd></div>
% if identity.email:
<div><dt>Email</dt><dd>{{identity.email}}</dd></div>
% end
<div><dt>Role</dt><dd>{{identity.role}}</dd></div>
</dl>
% if connection:
<p>
% if identity.is_from_provider:
Signed in with {{connection.name}}.
% end
% if connection.row:
Connected to {{connection.name}} on
% include("partials/time.tpl", at=connection.row["created_at"])
% if not connection.is_only_way_in:
· <a href="{{url('/profile/provider')}}">Disconnect</a>
% end
% elif connection.link_token:
<a class="button quiet" href="{{url('/auth/oidc')}}?link={{connection.link_token}}&amp;next=%2Fprofile%3Fdone%3Dconnected">Connect {{connection.name}}</a>
% end
</p>
% end
<p><a href="{{url('/profile/tokens')}}">Your API tokens</a></p>
% if not fields:
<p class="hint">{{note}}</p>
% else:
<div class="narrow">
<h2>Change password</h2>
% include("partials/problems.tpl")
<form method="post" action="{{url('/profile/password')}}">
% include("partials/csrf.tpl")
<input name="username" value="{{identity.username}}" autocomplete="username" aria-label="Username" readonly hidden>
% include("partials/form_fields.tpl")
<button>Change password</button>
</form>
</div>
% end
% if sessions.rows:
<section id="sessions">
<h2>Sessions</h2>
<p class="hint">The browsers and scripts that are signed in to your account.</p>
<form method="post" action="{{url('/profile/sessions')}}">
% include("partials/csrf.tpl")
% include("partials/table.tpl", table=sessions)
% if len(sessions.rows) > 1:
<button name="session" value="others">Sign out all other sessions</button>
% end
</form>
</section>
% end
