% if tokens:
<ul class="cards">
% for token in tokens:
<li class="card">
<h3><bdi>{{token["description"]}}</bdi></h3>
<dl>
<div><dt>Token</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
<div><dt>Expires</dt><dd>
% include("partials/time.tpl", at=token["expires_at"])
</dd></div>
<div><dt>Last used</dt><dd>
% if token["seen_at"]:
% include("partials/time.tpl", at=token["seen_at"])
% else:
never
% end
</dd></div>
</dl>
<p class="actions">
% if tokens_path:
<a href="{{url(tokens_path, token['id'], 'delete')}}">Delete<span class="hidden"> token {{token["description"]}}</span></a>
% else:
<button class="quiet" name="token" value="{{token["id"]}}" data-confirm="Delete token {{token["description"]}}? Its users lose access immediately.">Delete<span class="hidden"> token {{token["description"]}}</span></button>
% end
</p>
</li>
% end
</ul>
% end
