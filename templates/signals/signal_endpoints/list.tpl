% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Signal endpoints</h1>
% if len(endpoints) < limit:
<a class="button" href="{{url('/admin/signals/new')}}">New signal endpoint</a>
% end
</div>
<p class="hint">{{len(endpoints)}} of at most {{limit}}. External systems report here that something happened; each sender has a token of its own.{{" Delete one to make room for another." if len(endpoints) >= limit else ""}}</p>
% if not endpoints:
<section class="empty">
<h2>None yet</h2>
<p>With an endpoint and a token, a sender needs one line:</p>
<pre><code>curl -X POST '{{own_url()}}/api/signal-endpoint/NAME' \
  -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' \
  -d '{"type": "test"}'</code></pre>
</section>
% end
% if endpoints:
<ul class="cards">
% for endpoint in endpoints:
<li class="card">
<div class="heading">
<h2><a href="{{url('/admin/signals/%d' % endpoint['id'])}}">{{endpoint["name"]}}</a></h2>
<form method="post" action="{{url('/admin/signals/%d/%s' % (endpoint['id'], 'off' if endpoint['enabled'] else 'on'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if endpoint['enabled'] else 'false'}}" aria-label="Endpoint {{endpoint['name']}}">{{"on" if endpoint["enabled"] else "off"}}</button>
</form>
</div>
% if endpoint["description"]:
<p>{{endpoint["description"]}}</p>
% end
% include("partials/copy.tpl", id="url-%d" % endpoint["id"], value=endpoint["url"], label="URL of " + endpoint["name"])
<dl>
<div><dt>Tokens</dt><dd>
% if endpoint["tokens"]:
<ul class="names">
% for token in endpoint["tokens"]:
<li><bdi>{{token["name"]}}</bdi></li>
% end
</ul>
% else:
<a href="{{url('/admin/signals/%d#tokens' % endpoint['id'])}}">Create a token</a>
% end
</dd></div>
<div><dt>Last signal</dt><dd>
% if endpoint["last"]:
% include("partials/time.tpl", at=endpoint["last"])
% else:
none yet
% end
</dd></div>
<div><dt>Last 24 hours</dt><dd>
% include("partials/sparkline.tpl", bars=endpoint["bars"], label=plural(endpoint["today"], "signal") + " in the last 24 hours")
{{endpoint["today"]}}
</dd></div>
</dl>
<p class="actions">
<a href="{{url('/admin/signals/%d/log' % endpoint['id'])}}">View signals<span class="hidden"> of {{endpoint["name"]}}</span></a>
<a href="{{url('/admin/signals/%d' % endpoint['id'])}}">Edit<span class="hidden"> {{endpoint["name"]}}</span></a>
<a href="{{url('/admin/signals/%d/delete' % endpoint['id'])}}">Delete<span class="hidden"> {{endpoint["name"]}}</span></a>
</p>
</li>
% end
</ul>
% end
