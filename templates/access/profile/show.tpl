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
% include("access/users/rules.tpl")
</div>
% end
% if sessions:
<section id="sessions">
<h2>Sessions</h2>
<p class="hint">Where you are signed in. The last use is at most a few minutes old.</p>
<form method="post" action="{{url('/profile/sessions')}}">
% include("partials/csrf.tpl")
<ul class="cards">
% for session in sessions:
% device = session["user_agent"] or "Unknown program"
<li class="card">
<div class="heading">
<h3><bdi>{{device}}</bdi></h3>
% if session["is_current"]:
<span class="badge">This session</span>
% end
</div>
<dl>
<div><dt>Address</dt><dd>{{session["ip"] or "unknown"}}</dd></div>
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
<button name="session" value="others">Sign out all others</button>
% end
</form>
</section>
% end
