% rebase("layout.tpl", title=title, live=False)
<h1>Events</h1>
<p class="hint">Every change, who made it, and from which address.</p>
<form method="get" class="inline">
<span><label for="type">Type</label>
<select id="type" name="type">
<option value="">all</option>
% for name in types:
<option value="{{name}}" {{"selected" if name == type else ""}}>{{name}}</option>
% end
</select></span>
<span><label for="feature">Flag</label>
<input id="feature" name="feature" value="{{feature}}" autocomplete="off"></span>
<button class="quiet">Filter</button>
</form>
% if not events:
<p class="empty">No event yet.</p>
% end
% if events:
<ol class="log">
% for event in events:
<li>
<details>
<summary>
% include("partials/time.tpl", at=event["created_at"])
<span class="badge">{{event["type"]}}</span>
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
<pre><code>{{event["pre_data"]}}</code></pre>
% end
% if event["data"]:
<h2>{{"After" if event["pre_data"] else "Data"}}</h2>
<pre><code>{{event["data"]}}</code></pre>
% end
</details>
</li>
% end
</ol>
% end
% include("partials/pager.tpl")
