% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/users')}}">Users</a></p>
% if user:
<h1><bdi>{{login}}</bdi></h1>
% else:
<h1>New user</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/users', user['id'] if user else 'new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
% if note:
<p class="hint">{{note}}</p>
% end
<button>{{"Save" if user else "Create user"}}</button>
</form>
% if user and authentication.has_passwords:
<section class="narrow">
<h2>Set password</h2>
<p class="hint">Signs the user out and revokes the user's personal API tokens.</p>
<form method="post" action="{{url('/admin/users', user['id'], 'password')}}">
% include("partials/csrf.tpl")
% include("partials/form_field.tpl", field=new_password)
<button>Set password</button>
</form>
<h2>Reset link</h2>
<form method="post" action="{{url('/admin/users', user['id'], 'link')}}">
% include("partials/csrf.tpl")
<p class="hint">Lets the user set a password. Valid once, for 24 hours; earlier links stop working.</p>
<button class="quiet">Create reset link</button>
</form>
% if mail:
<p>Last email: {{mail_state}},
% include("partials/time.tpl", at=mail["created_at"])
</p>
% end
</section>
% end
% if user:
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/users', user['id'], 'delete')}}">Delete user…</a></p>
</section>
% end
