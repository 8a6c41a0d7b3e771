<section id="tokens">
<h2>Tokens</h2>
<p class="hint">{{len(tokens)}} of {{token_limit}} tokens. Give each sender its own token to tell their signals apart.</p>
% if tokens:
<ul class="cards">
% for token in tokens:
<li class="card">
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'])}}">
% include("partials/csrf.tpl")
% include("partials/form_field.tpl", field=token["field"])
<button class="quiet" aria-label="Rename token {{token['name']}}">Rename</button>
</form>
<dl>
<div><dt>Token</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=token["created_at"])
</dd></div>
<div><dt>Last signal</dt><dd>
% if token["last_received"]:
% include("partials/time.tpl", at=token["last_received"])
% else:
never
% end
</dd></div>
</dl>
<p class="actions"><a href="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'delete')}}">Delete<span class="hidden"> token {{token["name"]}}</span></a></p>
</li>
% end
</ul>
% end
% if len(tokens) < token_limit:
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens')}}">
% include("partials/csrf.tpl")
% include("partials/form_field.tpl", field=token_name)
<button>Create token</button>
</form>
% else:
<p>Delete a token to add another.</p>
% end
</section>
