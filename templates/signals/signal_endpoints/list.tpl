% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Signal endpoints</h1>
% if len(endpoints) < limit:
<a class="button" href="{{url('/admin/signals/new')}}">New signal endpoint</a>
% end
</div>
<p class="hint">{{len(endpoints)}} of {{limit}} endpoints. Receive webhooks from external systems.{{" Delete an endpoint to add another." if len(endpoints) >= limit else ""}}</p>
% if not endpoints:
<section class="empty">
<h2>No signal endpoints yet</h2>
<p>Create an endpoint with a token, then send a signal:</p>
<pre tabindex="0"><code>curl -X POST '{{own_url()}}/api/signal-endpoint/NAME' \
  -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' \
  -d '{"type": "test"}'</code></pre>
</section>
% else:
<ul class="cards">
% for endpoint in endpoints:
<li class="card">
<div class="heading">
<h2><a href="{{url('/admin/signals', endpoint['id'])}}">{{endpoint["name"]}}</a>\\
% include("signals/silence/badge.tpl", silence=endpoint["silence"])
</h2>
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'off' if endpoint['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if endpoint['enabled'] else 'false'}}" aria-label="Endpoint {{endpoint['name']}}">{{"on" if endpoint["enabled"] else "off"}}</button>
</form>
</div>
% if endpoint["description"]:
<p>{{endpoint["description"]}}</p>
% end
% include("partials/copy_field.tpl", field=endpoint["url"])
<dl>
<div><dt>Tokens</dt><dd>
% if endpoint["tokens"]:
<ul class="names">
% for token in endpoint["tokens"]:
<li><bdi>{{token["name"]}}</bdi></li>
% end
</ul>
% else:
<a href="{{url('/admin/signals', endpoint['id'])}}#tokens">Create a token</a>
% end
</dd></div>
<div><dt>Last signal</dt><dd>
% if endpoint["last_received"]:
% include("partials/time.tpl", at=endpoint["last_received"])
% else:
never
% end
</dd></div>
% if endpoint["refused"]:
<div><dt>Refused calls</dt><dd>
<a href="{{url('/admin/signals', endpoint['id'], 'refused')}}">{{endpoint["refused"]["calls"]}}<span class="hidden"> refused calls of {{endpoint["name"]}}</span></a>, last
% include("partials/time.tpl", at=endpoint["refused"]["last_at"])
</dd></div>
% end
<div><dt>Last 24 hours</dt><dd>
% include("partials/sparkline.tpl", bars=endpoint["bars"], marks=endpoint["marks"], label=endpoint["chart_label"])
{{number(endpoint["total"])}}
% if endpoint["runs"]:
<span class="muted">▾ {{plural(endpoint["runs"], "run")}}</span>
% end
</dd></div>
</dl>
<p class="actions">
<a href="{{url('/admin/signals', endpoint['id'], 'log')}}">View signals<span class="hidden"> of {{endpoint["name"]}}</span></a>
<a href="{{url('/admin/signals', endpoint['id'])}}">Edit<span class="hidden"> {{endpoint["name"]}}</span></a>
<a href="{{url('/admin/signals', endpoint['id'], 'delete')}}">Delete<span class="hidden"> {{endpoint["name"]}}</span></a>
</p>
</li>
% end
</ul>
% end
<p><a href="{{url('/admin/signals/refused')}}">Refused calls of unknown endpoints</a></p>
