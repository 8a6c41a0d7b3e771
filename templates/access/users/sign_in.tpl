% if has_password_form:
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
% if identities:
<section>
<h2>Single sign-on</h2>
<form method="post" action="{{url('/admin/users', user['id'], 'identities')}}">
% include("partials/csrf.tpl")
<ul class="rows">
% for row in identities:
<li>
<bdi>{{row["issuer"]}}</bdi>
<bdi class="muted">{{row["subject"]}}</bdi>
<button class="quiet" name="identity" value="{{row["id"]}}">Disconnect<span class="hidden"> {{row["issuer"]}}</span></button>
</li>
% end
</ul>
</form>
</section>
% end
