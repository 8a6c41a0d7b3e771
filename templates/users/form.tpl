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
% include("partials/field.tpl", name="username", label="User name", value=values["username"], hint="A user name or an e-mail address is needed; both sign in.")
% include("partials/field.tpl", name="email", label="E-mail", value=values["email"])
% include("partials/field.tpl", name="name", label="Full name", value=values["name"])
% include("partials/select.tpl", name="rootRole", label="Role", value=values["rootRole"], choices=[(role["name"], "%s: %s" % (role["name"], role["description"])) for role in roles])
% if not user:
% include("partials/field.tpl", name="password", label="Password", value="", kind="password", autocomplete="new-password", required=True)
% include("users/rules.tpl")
% end
<button>{{"Save" if user else "Create user"}}</button>
</form>
% if user:
<section class="narrow">
<h2>Set password</h2>
<p class="hint">Ends the user's sessions.</p>
<form method="post" action="{{url('/admin/users/%d/password' % user['id'])}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="password", label="New password", value="", kind="password", autocomplete="new-password", required=True)
<button>Set password</button>
</form>
% include("users/rules.tpl")
</section>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/users/%d/delete' % user['id'])}}">Delete this user …</a></p>
</section>
% end
