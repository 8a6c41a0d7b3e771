% rebase("layout.tpl", title=title, live=False)
<h1>{{title.removeprefix("Problem: ")}}</h1>
<p class="hint">{{len(table.rows)}} of {{token_limit}} tokens. Tokens grant admin API access with your role.</p>
% if table.rows:
<form method="post" action="{{url('/profile/tokens/delete')}}">
% include("partials/csrf.tpl")
% include("partials/table.tpl")
</form>
% end
% if not identity.session_hash:
<p>Sign in to create a token.</p>
% elif len(table.rows) >= token_limit:
<p>Token limit reached. Delete a token to create another.</p>
% elif confirmation_path:
<section class="narrow">
<h2>New token</h2>
% include("partials/problems.tpl")
<p>Sign in with {{provider_name}} again to create a token.</p>
<p><a class="button" href="{{confirmation_path}}">Confirm with {{provider_name}}</a></p>
</section>
% else:
<section class="narrow">
<h2>New token</h2>
% include("partials/problems.tpl")
<form method="post" action="{{url('/profile/tokens')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<button>Create token</button>
</form>
</section>
% end
