% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
<form method="post" action="{{url('/sign-in')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="next" value="{{values['next']}}">
% include("partials/field.tpl", name="username", label="User name or e-mail address", value=values.get("username", ""), autocomplete="username", required=True)
% include("partials/field.tpl", name="password", label="Password", value="", kind="password", autocomplete="current-password", required=True)
% if any(problem.get("path") == "code" for problem in get("problems", ())):
% include("partials/field.tpl", name="code", label="One-time code", value="", autocomplete="one-time-code", required=True)
% end
<button>Sign in</button>
</form>
<p><a href="{{url('/forgot-password')}}">Forgot your password?</a></p>
</div>
