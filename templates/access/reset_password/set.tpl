% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>{{heading}}</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if user:
<p>Setting a password for <bdi>{{user["username"] or user["email"]}}</bdi>. Other sessions will be signed out and personal API tokens revoked.</p>
<form method="post" action="{{action}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="token" value="{{token}}">
<input name="username" value="{{user['username'] or user['email']}}" autocomplete="username" aria-label="Username" readonly hidden>
% include("partials/form_fields.tpl")
<button>Set password</button>
</form>
% else:
% if sends_mail:
<p><a href="{{url('/forgot-password')}}">Request a new link</a></p>
% else:
<p>Ask an admin for a new link.</p>
% end
<p><a href="{{url('/sign-in')}}">Back to sign-in</a></p>
% end
</div>
