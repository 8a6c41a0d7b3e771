% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
% include("partials/problems.tpl")
<p class="hint">{{len(tokens)}} of {{limit}} tokens. Give each sender its own token to tell their signals apart.</p>
% if tokens:
<ul class="cards" id="tokens">
% for token in tokens:
<li class="card">
<h2><bdi>{{token["name"]}}</bdi>
% for text in (token["expiry"], token["disuse"]):
% if text:
<span class="badge">{{text}}</span>
% end
% end
</h2>
<dl>
<div><dt>Type</dt><dd>{{token["kind"]}}</dd></div>
% if token["secret_prefix"]:
<div><dt>Token</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
% end
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=token["created_at"])
</dd></div>
% if token["expires_at"]:
<div><dt>Expires</dt><dd>
% include("partials/time.tpl", at=token["expires_at"])
</dd></div>
% end
% if token["allowed_addresses"]:
<div><dt>Addresses</dt><dd>{{", ".join(token["allowed_addresses"])}}</dd></div>
% end
<div><dt>Last signal</dt><dd>
% if token["last_received"]:
% include("partials/time.tpl", at=token["last_received"])
% else:
never
% end
</dd></div>
% if token["used_at"]:
<div><dt>Last used</dt><dd>
% include("partials/time.tpl", at=token["used_at"])
% if token["used_from"]:
from {{token["used_from"]}},
% end
{{plural(token["uses"], "time")}} in total</dd></div>
% end
</dl>
% if token["grace_ends_at"]:
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'previous-secret', 'delete')}}">
% include("partials/csrf.tpl")
<p>The previous secret is valid until {{readable(token["grace_ends_at"])}}.
</p>
<button class="quiet">End grace period<span class="hidden"> of {{token["name"]}}</span></button>
</form>
% end
<p class="actions">
<a href="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'])}}">Edit<span class="hidden"> token {{token["name"]}}</span></a>
% if token["has_secret"]:
<a href="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'rotate')}}">Replace secret<span class="hidden"> of token {{token["name"]}}</span></a>
% end
<a href="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'delete')}}">Delete<span class="hidden"> token {{token["name"]}}</span></a>
</p>
</li>
% end
</ul>
% end
% if not limit_text:
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<button>Create token</button>
</form>
<p><a href="{{url('/admin/signals', endpoint['id'], 'tokens', 'new')}}">Create a token with a signature, an expiry or addresses</a></p>
% else:
<p>{{limit_text}}</p>
% end
