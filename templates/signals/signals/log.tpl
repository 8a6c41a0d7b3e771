% rebase("layout.tpl", title=title, live=live)
% include("signals/signal_endpoints/heading.tpl")
% include("partials/problems.tpl")
<form method="get" class="inline filter" role="search">
% for field in filters:
% include("partials/filter_field.tpl", field=field)
% end
<details {{"open" if has_more_filters else ""}}>
<summary>More filters</summary>
<div class="inline">
% for field in more_filters:
% include("partials/filter_field.tpl", field=field)
% end
</div>
</details>
<button class="quiet">Filter</button>
</form>
% include("partials/chips.tpl")
<div class="bulk">
% if live:
<p class="hint">● Live · <a href="?{{pause_query}}">Pause</a></p>
% elif is_paused:
<p class="hint">Paused · <a href="?{{newest}}">Resume</a></p>
% end
% if not problems and (signals or is_filtered):
<p class="hint">Export {{"matching" if is_filtered else "all"}} signals:
<a href="{{url('/api/admin/signal-endpoints', endpoint['id'], 'export')}}?{{export_queries["csv"]}}">CSV</a> ·
<a href="{{url('/api/admin/signal-endpoints', endpoint['id'], 'export')}}?{{export_queries["ndjson"]}}">NDJSON</a></p>
% end
</div>
<div id="signals" {{"data-live" if live else ""}} aria-live="off">
% if not signals and at_newest and not is_filtered:
<section class="empty">
<h2>No signals yet</h2>
<p>This page refreshes automatically. <a href="{{url('/admin/signals', endpoint['id'], 'setup')}}">Set up the sender or send a sample</a></p>
</section>
% elif not signals:
<p class="empty">No signals match.</p>
% else:
<ol class="log">
% for signal in signals:
<li>
<details id="signal-{{signal['id']}}">
<summary>
% include("partials/time.tpl", at=signal["created_at"])
% include("signals/signals/sender.tpl", signal=signal)
% include("signals/signals/summary.tpl", summary=signal["summary"])
% if len(signal["ids"]) > 1:
<span class="muted">{{len(signal["ids"])}} times</span>
% end
<span class="result {{'broken' if signal['evaluation'].has_failed else ''}}"><bdi>{{"…" if signal["evaluation"].is_waiting else signal["evaluation"].result or "–"}}</bdi></span>
</summary>
<pre tabindex="0"><code>{{signal["formatted"]}}</code></pre>
% if signal["is_truncated"]:
<p class="hint">Payload truncated. Open the signal to see all of it.</p>
% end
% include("signals/signals/outcomes.tpl", evaluation=signal["evaluation"])
<p class="actions">\\
% for id in signal["ids"]:
<a href="{{url('/admin/signals', endpoint['id'], 'log', id)}}">Signal {{id}}</a>
% end
<span class="muted">{{signal["payload_bytes"]}} bytes</span></p>
</details>
</li>
% end
</ol>
% end
% if not searched_to_end:
<p class="hint">Searched the newest part of the log. <a href="?{{older}}">Search older signals →</a></p>
% end
% include("partials/pager.tpl")
</div>
