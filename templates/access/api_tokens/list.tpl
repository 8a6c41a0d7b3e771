% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>API tokens</h1>
<a class="button" href="{{url('/admin/api-tokens/new')}}">New API token</a>
</div>
<p class="hint">Used by SDKs and scripts. Deleting a token revokes access immediately.</p>
% if not tokens:
<p class="empty">No API tokens yet. Create one to connect an SDK.</p>
% else:
<ul class="cards">
% for token in tokens:
<li class="card">
<div class="heading">
<h2><bdi>{{token["token_name"]}}</bdi>\\
% if not token["created_by"]:
 <code>{{token["secret_prefix"]}}…</code>\\
% end
</h2>
<span class="badge">{{token["type"]}}</span>
</div>
<dl>
<div><dt>Token</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
<div><dt>Environment</dt><dd>{{"all" if token["environment"] == "*" else token["environment"]}}</dd></div>
<div><dt>Projects</dt><dd>{{"all" if "*" in token["projects"] else ", ".join(token["projects"])}}</dd></div>
<div><dt>{{"Expired" if token["expires_at"] and token["expires_at"] <= now else "Expires"}}</dt><dd>
% if token["expires_at"]:
% include("partials/time.tpl", at=token["expires_at"])
% else:
never
% end
</dd></div>
<div><dt>Last used</dt><dd>
% if token["seen_at"]:
% include("partials/time.tpl", at=token["seen_at"])
% else:
never
% end
</dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=token["created_at"])
by <bdi>{{token["created_by"] or "the configuration"}}</bdi></dd></div>
</dl>
<p class="actions"><a href="{{url('/admin/api-tokens', token['id'], 'delete')}}">Delete<span class="hidden"> token {{token["token_name"]}} {{token["secret_prefix"]}}</span></a></p>
</li>
% end
</ul>
% end
