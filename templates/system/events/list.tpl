% rebase("layout.tpl", title=title, live=False)
<h1>Events</h1>
<p class="hint">Audit log of all changes.</p>
<form method="get" class="inline">
<span><label for="type">Type</label>
<select id="type" name="type">
% for value, label in types:
<option value="{{value}}" {{"selected" if value == type else ""}}>{{label}}</option>
% end
</select></span>
<span><label for="feature">Flag</label>
<input id="feature" name="feature" value="{{feature}}" autocomplete="off"></span>
<span><label for="query">Search</label>
<input id="query" name="query" value="{{query}}" autocomplete="off"></span>
<button class="quiet">Filter</button>
% if is_filtered:
<a href="?">Clear filters</a>
% end
</form>
% if not events:
<p class="empty">{{"No events match." if is_filtered else "No events yet."}}</p>
% else:
<ol class="log">
% for event in events:
<li>
<details>
<summary>
% include("partials/time.tpl", at=event["created_at"])
<span class="badge" title="{{event["type"]}}">{{event["label"]}}</span>
<strong><bdi>{{event["subject"]}}</bdi></strong>
% if event["environment"]:
<span>in {{event["environment"]}}</span>
% end
<span>by <bdi>{{event["created_by"]}}</bdi></span>
% if event["ip"]:
<span class="muted">{{event["ip"]}}</span>
% end
</summary>
% if event["pre_data"]:
<h2>Before</h2>
<pre tabindex="0"><code>{{event["pre_data"]}}</code></pre>
% end
% if event["data"]:
<h2>{{"After" if event["pre_data"] else "Data"}}</h2>
<pre tabindex="0"><code>{{event["data"]}}</code></pre>
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
