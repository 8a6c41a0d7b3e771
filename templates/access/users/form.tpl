% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/users')}}">Users</a></p>
% if user:
<h1><bdi>{{user["username"] or user["email"]}}</bdi></h1>
% else:
<h1>New user</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/users/%d' % user['id'] if user else '/admin/users/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="username", label="User name", value=values["username"], hint="A user name or an e-mail address is needed" + ("; both sign in." if authentication.has_passwords else "."))
% include("partials/field.tpl", name="email", label="E-mail", value=values["email"])
% include("partials/field.tpl", name="name", label="Full name", value=values["name"])
% include("partials/select.tpl", name="rootRole", label="Role", value=values["rootRole"], choices=[(role["name"], "%s: %s" % (role["name"], role["description"])) for role in roles])
% if not authentication.has_passwords:
<p class="hint">{{authentication.note}}</p>
% elif not user:
% include("partials/field.tpl", name="password", label="Password", value="", kind="password", autocomplete="new-password", hint="Leave it empty to invite: you get a link by which the user sets it.")
% include("access/users/rules.tpl")
% if sends_mail:
% include("partials/check.tpl", name="send_mail", label="Send a welcome mail with a link", checked=send_mail)
% else:
<p class="hint">This server sends no mails: hand the link over yourself.</p>
% end
% end
<button>{{"Save" if user else "Create user"}}</button>
</form>
% if user and authentication.has_passwords:
<section class="narrow">
<h2>Set password</h2>
<p class="hint">Ends the user's sessions and revokes the user's personal API tokens.</p>
<form method="post" action="{{url('/admin/users/%d/password' % user['id'])}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="password", label="New password", value="", kind="password", autocomplete="new-password", required=True)
<button>Set password</button>
</form>
% include("access/users/rules.tpl")
<form method="post" action="{{url('/admin/users/%d/link' % user['id'])}}">
% include("partials/csrf.tpl")
<p class="hint">Or let the user set it: the link works once, within 24 hours, and ends earlier links.</p>
<button class="quiet">Password link</button>
</form>
% if mail:
<p>Last mail: {{mail["kind"]}}, {{mail_state}}{{" (%s)" % mail["last_error"] if mail["last_error"] else ""}},
% include("partials/time.tpl", at=mail["created_at"])
</p>
% end
</section>
% end
% if user:
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/users/%d/delete' % user['id'])}}">Delete this user …</a></p>
</section>
% end
