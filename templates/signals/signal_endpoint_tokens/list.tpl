<section id="tokens">
<h2>Tokens</h2>
<p class="hint">{{len(tokens)}} of at most {{token_limit}}. Give each sender its own, so that its signals can be told apart.</p>
% if tokens:
<ul class="cards">
% for token in tokens:
<li class="card">
<form method="post" action="{{url('/admin/signals/%d/tokens/%d' % (endpoint['id'], token['id']))}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", id="name-%d" % token["id"], name="token_name", label="Name", value=values["token_names"].get(token["id"], token["name"]), required=True)
<button class="quiet" aria-label="Rename token {{token['name']}}">Rename</button>
</form>
<dl>
<div><dt>Begins with</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=token["created_at"])
</dd></div>
<div><dt>Last signal</dt><dd>
% if token["last"]:
% include("partials/time.tpl", at=token["last"])
% else:
none yet
% end
</dd></div>
</dl>
<p class="actions"><a href="{{url('/admin/signals/%d/tokens/%d/delete' % (endpoint['id'], token['id']))}}">Delete<span class="hidden"> token {{token["name"]}}</span></a></p>
</li>
% end
</ul>
% end
% if len(tokens) < token_limit:
<form method="post" action="{{url('/admin/signals/%d/tokens' % endpoint['id'])}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="token_name", label="New token's name", value=values["token_name"], required=True, hint="Who sends, such as alertmanager-eu.")
<button>Create token</button>
</form>
% else:
<p>Delete a token to make room for another.</p>
% end
</section>
