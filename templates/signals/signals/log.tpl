% rebase("layout.tpl", title=title, live=live)
<p><a href="{{url('/admin/signals')}}">Signal endpoints</a></p>
<div class="heading">
<h1>Signals: {{endpoint["name"]}}</h1>
<a href="{{url('/admin/signals/%d/send' % endpoint['id'])}}">Send a test signal</a>
<a href="{{url('/admin/signals/%d' % endpoint['id'])}}">View configuration</a>
</div>
% include("partials/copy.tpl", id="call-url", value=call_url, label="URL that senders call")
<form method="get" class="inline" role="search">
<span><label for="query">Payload contains</label>
<input id="query" name="query" value="{{filters['query']}}" autocomplete="off"></span>
<span><label for="token">Token</label>
<select id="token" name="token">
<option value="">all</option>
% for token in tokens:
<option value="{{token['id']}}" {{"selected" if token["id"] == filters["token"] else ""}}>{{token["name"]}}</option>
% end
</select></span>
<button class="quiet">Filter</button>
% if filters["query"] or filters["token"]:
<a href="?">Show all</a>
% end
</form>
% if live or paused:
<p class="hint">{{"Refreshes by itself." if live else "Refreshing is paused."}} <a href="?{{newest}}{{"&" if newest else ""}}{{"live=off" if live else ""}}">{{"Pause" if live else "Go on"}}</a></p>
% end
<div id="signals" {{"data-live" if live else ""}} aria-live="off">
% if not signals:
% if at_newest and not filters["query"] and not filters["token"]:
<section class="empty">
<h2>No signal yet</h2>
<p>This page refreshes by itself. Send one:</p>
<pre><code>curl -X POST '{{call_url}}' \
  -H 'Authorization: Bearer TOKEN' \
  -H 'Content-Type: application/json' \
  -d '{"type": "test"}'</code></pre>
</section>
% else:
<p class="empty">No signal here matches.</p>
% end
% end
% if signals:
<ol class="log">
% for signal in signals:
<li>
<details id="signal-{{signal['id']}}">
<summary>
% include("partials/time.tpl", at=signal["created_at"])
% include("signals/signals/sender.tpl", signal=signal)
% for one in signal["evaluation"].outcomes:
% if one.state != "not matched":
<span class="badge"><bdi>{{one.name}}</bdi>: {{one.label}}</span>
% end
% end
<code class="preview">{{signal["preview"]}}</code>
</summary>
<pre><code>{{signal["pretty"]}}</code></pre>
% if signal["cut"]:
<p class="hint">The payload is longer than what is shown here.</p>
% end
% if signal["evaluation"].is_waiting or signal["evaluation"].outcomes:
% include("signals/signals/outcomes.tpl", evaluation=signal["evaluation"])
% end
<p class="actions"><a href="{{url('/admin/signals/%d/log/%d' % (endpoint['id'], signal['id']))}}">Signal {{signal["id"]}}</a> <span class="muted">{{signal["payload_bytes"]}} bytes</span></p>
</details>
</li>
% end
</ol>
% end
% if not searched_to_end:
<p class="hint">The search has looked through the newest part of the log; “Older” goes on from there.</p>
% end
% include("partials/pager.tpl")
</div>
