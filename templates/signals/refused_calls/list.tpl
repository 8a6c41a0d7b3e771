% rebase("layout.tpl", title=title, live=False)
% if endpoint:
% include("signals/signal_endpoints/heading.tpl")
% else:
<h1>{{title}}</h1>
% end
<p class="hint">Calls that stored no signal, counted by caller and reason. New ones appear after a few seconds.</p>
% if not calls:
<p class="empty">No calls were refused.</p>
% else:
<ul class="cards">
% for call in calls:
<li class="card">
<h2><bdi>{{call["reason"]}}</bdi></h2>
<dl>
% if not endpoint and call["endpoint_name"]:
<div><dt>Name</dt><dd><code><bdi>{{call["endpoint_name"]}}</bdi></code></dd></div>
% end
<div><dt>Status</dt><dd>{{call["status"]}}</dd></div>
<div><dt>Calls</dt><dd>{{call["calls"]}}</dd></div>
<div><dt>Last</dt><dd>
% include("partials/time.tpl", at=call["last_at"])
</dd></div>
<div><dt>First</dt><dd>
% include("partials/time.tpl", at=call["first_at"])
</dd></div>
% if call["secret_prefix"]:
<div><dt>Token</dt><dd><code><bdi>{{call["secret_prefix"]}}</bdi>…</code></dd></div>
% end
% if call["address"]:
<div><dt>From</dt><dd><bdi>{{call["address"]}}</bdi></dd></div>
% end
% if call["user_agent"]:
<div><dt>User agent</dt><dd><bdi>{{call["user_agent"]}}</bdi></dd></div>
% end
</dl>
</li>
% end
</ul>
% end
