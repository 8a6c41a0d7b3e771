% if authentication.has_passwords:
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
