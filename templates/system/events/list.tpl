% rebase("layout.tpl", title=title, live=False)
<h1>Audit log</h1>
<nav class="filters" aria-label="Filters">
% for label, query, is_applied in links:
<a href="?{{query}}" {{"aria-current=true" if is_applied else ""}}>{{label}}</a>
% end
</nav>
<details {{"open" if has_more else ""}}>
<summary>More</summary>
<form method="get" class="inline filter" role="search">
% for field in fields:
% include("partials/filter_field.tpl", field=field)
% end
<button class="quiet">Filter</button>
</form>
</details>
% include("partials/chips.tpl")
% if not events:
<p class="empty">{{"No events match." if is_filtered else "No events yet."}}</p>
% else:
<ol class="log events">
% for event in events:
<li id="event-{{event['id']}}">
<div>
% include("partials/time.tpl", at=event["created_at"])
% include("system/events/sentence.tpl", event=event)
% include("system/events/origin.tpl", event=event)
</div>
<details>
<summary><span class="hidden">Details of event {{event["id"]}}</span></summary>
<p class="muted">{{event["label"]}} · <code>{{event["type"]}}</code> · event {{event["id"]}}
% if event["ip"] and has_addresses:
· {{event["ip"]}}
% end
</p>
% if event["lines"]:
<pre tabindex="0"><code class="diff">\\
% for mark, line in event["lines"]:
<span class="{{'added' if mark == '+' else 'removed' if mark == '-' else 'same'}}">{{mark}} {{line}}
</span>\\
% end
</code></pre>
% end
</details>
</li>
% end
</ol>
% end
% if not searched_to_end:
<p class="hint">Searched the newest part of the log. <a href="?{{older}}">Search older events →</a></p>
% end
% include("partials/pager.tpl")
<p>Export:
% for label, query in exports:
<a href="{{url('/api/admin/search/events/export')}}?{{query}}">{{label}}</a>
% end
</p>
