% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals/%d/log' % endpoint['id'])}}">Signals: {{endpoint["name"]}}</a></p>
<h1>Signal {{signal["id"]}}</h1>
<dl>
<div><dt>Received</dt><dd>
% include("partials/time.tpl", at=signal["created_at"])
</dd></div>
<div><dt>Token</dt><dd><bdi>{{signal["token_name"] or "deleted token"}}</bdi></dd></div>
<div><dt>Size</dt><dd>{{signal["payload_bytes"]}} bytes</dd></div>
</dl>
<h2>Payload</h2>
<pre><code>{{signal["pretty"]}}</code></pre>
