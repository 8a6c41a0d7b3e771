% rebase("layout.tpl", title=title, live=False)
<h1>Playground</h1>
<p class="hint">What an SDK would answer for a user, and why. The address of the result can be handed on.</p>
% include("partials/problems.tpl")
<form method="get" action="{{url('/admin/playground')}}#result" role="search">
<div class="fields">
% include("partials/select.tpl", name="environment", label="Environment", value=values["environment"], choices=environments)
% include("partials/select.tpl", name="project", label="Project", value=values["project"], choices=projects)
% include("partials/field.tpl", name="flag", label="Flag", value=values["flag"], hint="Optional: a part of its name.")
% include("partials/field.tpl", name="userId", label="User id", value=values["userId"])
% include("partials/field.tpl", name="sessionId", label="Session id", value=values["sessionId"])
% include("partials/field.tpl", name="appName", label="Application", value=values["appName"])
% include("partials/field.tpl", name="remoteAddress", label="Address of the user", value=values["remoteAddress"], hint="Such as 192.0.2.7.")
% include("partials/field.tpl", name="currentTime", label="Time", value=values["currentTime"], hint="Such as 2030-01-31T12:00:00Z; now if it is empty.")
</div>
% include("partials/textarea.tpl", name="properties", label="Other properties", value=values["properties"], hint="One name=value a line, such as country=DE.")
<button>Explain</button>
</form>
% if result:
% flags, total = result
<section id="result">
<h2>{{plural(total, "flag")}} in {{values["environment"]}}</h2>
% if not flags:
<p class="empty">No flag has such a name there.</p>
% end
% if total > len(flags):
<p class="hint">The first {{len(flags)}} are shown: choose a project or a part of the name.</p>
% end
% if flags:
<ol class="log">
% for flag in flags:
<li>
<details id="flag-{{flag.name}}" {{"open" if total == 1 or flag.name == values["flag"] else ""}}>
<summary>
<strong><bdi>{{flag.name}}</bdi></strong>
<strong class="result {{flag.state}}">{{flag.state}}</strong>
% if flag.variant:
<span class="badge">variant <bdi>{{flag.variant}}</bdi></span>
% end
<span class="muted">{{flag.project}}</span>
</summary>
<p>{{flag.why}}</p>
% if flag.is_random:
<p class="hint">Random stickiness: results vary per request. With a user ID or session ID, default stickiness is deterministic.</p>
% end
% if flag.payload:
<p>Payload of the variant:</p>
<pre><code>{{flag.payload}}</code></pre>
% end
% if flag.strategies:
% include("flags/playground/checks.tpl", checks=flag.strategies)
% end
<p><a href="{{url(flag_path(flag.name))}}#in-{{values["environment"]}}">Open <bdi>{{flag.name}}</bdi></a></p>
</details>
</li>
% end
</ol>
% end
</section>
% end
