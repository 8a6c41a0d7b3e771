% rebase("layout.tpl", title=title, live=False)
<div class="narrow">
<h1>Sign in</h1>
% include("partials/problems.tpl")
% if warning:
<p class="problem" role="alert">{{warning}}</p>
% end
<p>This is a demonstration: type any e-mail address, yours or a made-up one. Nothing here is protected.</p>
<form method="post" action="{{url('/sign-in')}}">
<input type="hidden" name="csrf" value="{{form_token}}">
<input type="hidden" name="next" value="{{values['next']}}">
% include("partials/field.tpl", name="email", label="E-mail address", value=values.get("email", ""), autocomplete="username", required=True)
<button>Sign in</button>
</form>
</div>
