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
% if sessions:
<section id="sessions">
<h2>Sessions</h2>
<p class="hint">The browsers and scripts that are signed in to your account.</p>
<form method="post" action="{{url('/profile/sessions')}}">
% include("partials/csrf.tpl")
<ul class="cards">
% for session in sessions:
% device = session["user_agent"] or "Unknown client"
<li class="card">
<div class="heading">
<h3><bdi>{{device}}</bdi></h3>
% if session["is_current"]:
<span class="badge">This session</span>
% end
</div>
<dl>
% if connection:
<div><dt>Signed in with</dt><dd>{{connection.name if session["identity_id"] else "password"}}</dd></div>
% end
<div><dt>IP address</dt><dd>{{session["ip"] or "unknown"}}</dd></div>
<div><dt>Signed in</dt><dd>
% include("partials/time.tpl", at=session["created_at"])
</dd></div>
<div><dt>Last used</dt><dd>
% include("partials/time.tpl", at=session["last_used_at"])
</dd></div>
</dl>
<p class="actions"><button class="quiet" name="session" value="{{session["id"]}}">Sign out<span class="hidden"> {{"this session" if session["is_current"] else device}}</span></button></p>
</li>
% end
</ul>
% if len(sessions) > 1:
<button name="session" value="others">Sign out all other sessions</button>
% end
</form>
</section>
% end
