% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/users#service-accounts')}}">Service accounts</a></p>
% if account:
<h1><bdi>{{account["username"]}}</bdi></h1>
% else:
<h1>New service account</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/service-accounts/%d' % account['id'] if account else '/admin/service-accounts/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="username", label="User name", value=values["username"], required=True, hint="Which program it is for, such as deploy-bot.")
% include("partials/field.tpl", name="name", label="Full name", value=values["name"])
% include("partials/select.tpl", name="rootRole", label="Role", value=values["rootRole"], choices=[(role["name"], "%s: %s" % (role["name"], role["description"])) for role in roles])
<button>{{"Save" if account else "Create service account"}}</button>
</form>
% if account:
<section id="tokens">
<h2>Tokens</h2>
<p class="hint">{{len(tokens)}} of at most {{token_limit}}. They open the admin API with the account's role.</p>
% if tokens:
<ul class="cards">
% for token in tokens:
<li class="card">
<h3><bdi>{{token["description"]}}</bdi></h3>
<dl>
<div><dt>Begins with</dt><dd><code>{{token["secret_prefix"]}}…</code></dd></div>
<div><dt>Expires</dt><dd>
% include("partials/time.tpl", at=token["expires_at"])
</dd></div>
<div><dt>Last seen</dt><dd>
% if token["seen_at"]:
% include("partials/time.tpl", at=token["seen_at"])
% else:
not yet
% end
</dd></div>
</dl>
<p class="actions"><a href="{{url('/admin/service-accounts/%d/tokens/%d/delete' % (account['id'], token['id']))}}">Delete<span class="hidden"> token {{token["description"]}}</span></a></p>
</li>
% end
</ul>
% end
% if len(tokens) < token_limit:
<form method="post" action="{{url('/admin/service-accounts/%d/tokens' % account['id'])}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="description", label="New token's description", value=values["description"], required=True)
% include("partials/field.tpl", name="expiresAt", label="Expires on", value=values["expiresAt"], kind="date", required=True, hint="At the beginning of that day (UTC).")
<button>Create token</button>
</form>
% else:
<p>Delete a token to make room for another.</p>
% end
</section>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/service-accounts/%d/delete' % account['id'])}}">Delete this service account …</a></p>
</section>
% end
