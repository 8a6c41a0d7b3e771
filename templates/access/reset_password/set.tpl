% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>{{title.removeprefix("Problem: ")}}</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
% if user:
<p>For <bdi>{{user["username"] or user["email"]}}</bdi>. All sessions of this user end, and the user's personal API tokens are revoked.</p>
<form method="post" action="{{url(path)}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="token" value="{{token}}">
<input name="username" value="{{user['username'] or user['email']}}" autocomplete="username" aria-label="User name" readonly hidden>
% include("partials/field.tpl", name="password", label="New password", value="", kind="password", autocomplete="new-password", required=True)
% include("access/users/rules.tpl")
% include("partials/field.tpl", name="confirm", label="New password again", value="", kind="password", autocomplete="new-password", required=True)
<button>Set password</button>
</form>
% else:
% if sends_mail:
<p><a href="{{url('/forgot-password')}}">Ask for another link</a></p>
% else:
<p>Ask an admin for another link.</p>
% end
<p><a href="{{url('/sign-in')}}">Back to sign-in</a></p>
% end
</div>
