% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Users</h1>
<a class="button" href="{{url('/admin/users/new')}}">New user</a>
</div>
<ul class="cards">
% for user in users:
% login = user["username"] or user["email"]
<li class="card">
<div class="heading">
<h2><a href="{{url('/admin/users', user['id'])}}"><bdi>{{login}}</bdi></a></h2>
<span class="badge">{{user["role"]}}</span>
% if provider and user["id"] in identities:
<span class="badge">{{provider.name}}</span>
% end
</div>
<dl>
% if user["name"]:
<div><dt>Name</dt><dd><bdi>{{user["name"]}}</bdi></dd></div>
% end
% if user["username"] and user["email"]:
<div><dt>Email</dt><dd><bdi>{{user["email"]}}</bdi></dd></div>
% end
<div><dt>Last sign-in</dt><dd>
% if user["seen_at"]:
% include("partials/time.tpl", at=user["seen_at"])
% else:
never
% end
</dd></div>
% if provider and user["id"] in identities and identities[user["id"]]["last_sign_in_at"]:
<div><dt>With {{provider.name}}</dt><dd>
% include("partials/time.tpl", at=identities[user["id"]]["last_sign_in_at"])
</dd></div>
% end
</dl>
<p class="actions">
<a href="{{url('/admin/users', user['id'])}}">Edit<span class="hidden"> user {{login}}</span></a>
<a href="{{url('/admin/users', user['id'], 'delete')}}">Delete<span class="hidden"> user {{login}}</span></a>
</p>
</li>
% end
</ul>
<section id="service-accounts">
<div class="heading">
<h2>Service accounts</h2>
<a class="button" href="{{url('/admin/service-accounts/new')}}">New service account</a>
</div>
<p class="hint">Machine users for automation. They authenticate with tokens.</p>
% if accounts:
<ul class="rows">
% for account in accounts:
<li>
<a href="{{url('/admin/service-accounts', account['id'])}}"><bdi>{{account["username"]}}</bdi></a>
<span class="badge">{{account["role"]}}</span>
<bdi>{{account["name"] or ""}}</bdi>
<span class="muted">{{plural(account["tokens"], "token")}}</span>
</li>
% end
</ul>
% else:
<p class="empty">No service accounts yet. Create one for a script or a pipeline.</p>
% end
</section>
