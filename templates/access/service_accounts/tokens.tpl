<section id="tokens">
<h2>Tokens</h2>
<p class="hint">{{len(table.rows)}} of {{token_limit}} tokens. Tokens grant admin API access with this role.</p>
% if table.rows:
% include("partials/table.tpl")
% end
% if len(table.rows) < token_limit:
<form method="post" action="{{url('/admin/service-accounts', account['id'], 'tokens')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=token_fields)
<button>Create token</button>
</form>
% else:
<p>Token limit reached. Delete a token to create another.</p>
% end
</section>
