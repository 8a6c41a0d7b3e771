% rebase("layout.tpl", title=title, live=False)
<h1>Set a new password</h1>
<p class="hint">The default password is public.</p>
% include("partials/problems.tpl")
<form method="post" action="{{url('/profile/password')}}">
% include("partials/csrf.tpl")
<input name="username" value="{{identity.username}}" autocomplete="username" aria-label="Username" readonly hidden>
% include("partials/form_fields.tpl")
<p class="actions"><button>Set password</button> <button class="quiet" form="sign-out">Sign out</button></p>
</form>
