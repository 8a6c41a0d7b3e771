% rebase("layout.tpl", title=title, live=False)
<h1>Run {{run["id"]}} of <bdi>{{run["name"]}}</bdi></h1>
% include("partials/problems.tpl")
<dl>
<div><dt>State</dt><dd>
% include("actions/action_runs/state.tpl", run=run)
</dd></div>
<div><dt>Started</dt><dd>
% include("partials/time.tpl", at=run["created_at"])
</dd></div>
<div><dt>Trigger</dt><dd>{{run["cause"]}}</dd></div>
% if run["duration"]:
<div><dt>Duration</dt><dd>{{run["duration"]}}</dd></div>
% end
</dl>
% if ignored_by:
<div class="problem">
<p>The alert of this run is ignored until it resolves, by <bdi>{{ignored_by}}</bdi>.</p>
% if identity.has_permission("EDIT"):
<form method="post" action="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'], 'watch-alert')}}">
% include("partials/csrf.tpl")
<button class="quiet">Stop ignoring the alert</button>
</form>
% end
</div>
% end
<section>
<h2>Changes</h2>
% include("actions/action_runs/run.tpl", run=run)
</section>
% for flag, chart in timelines:
<section>
<h2>\\
% if flag in run["existing_flags"]:
<a href="{{url(flag_path(flag))}}">{{flag}}</a>\\
% else:
{{flag}}\\
% end
 in {{chart["environment"]}}</h2>
% include("flags/features/timeline.tpl", chart=chart)
</section>
% end
% if payload:
<section>
<h2>Payload of the signal</h2>
<pre tabindex="0"><code>{{payload}}</code></pre>
</section>
% end
