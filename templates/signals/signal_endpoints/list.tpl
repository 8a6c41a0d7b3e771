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
% include("partials/table.tpl")
% end
<p><a href="{{url('/admin/signals/refused')}}">Refused calls of unknown endpoints</a></p>
