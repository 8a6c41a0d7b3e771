% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/users#service-accounts')}}">Service accounts</a></p>
% if account:
<h1><bdi>{{account["username"]}}</bdi></h1>
% else:
<h1>New service account</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/service-accounts', account['id'] if account else 'new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<button>{{"Save" if account else "Create service account"}}</button>
</form>
% if account:
<section id="tokens">
<h2>Tokens</h2>
<p class="hint">{{len(tokens)}} of {{token_limit}} tokens. Tokens grant admin API access with this role.</p>
% include("access/personal_tokens/cards.tpl")
% if len(tokens) < token_limit:
<form method="post" action="{{url('/admin/service-accounts', account['id'], 'tokens')}}">
% include("partials/csrf.tpl")
% for field in token_fields:
% include("partials/form_field.tpl", field=field)
% end
<button>Create token</button>
</form>
% else:
<p>Token limit reached. Delete a token to create another.</p>
% end
</section>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/service-accounts', account['id'], 'delete')}}">Delete service account…</a></p>
</section>
% end
