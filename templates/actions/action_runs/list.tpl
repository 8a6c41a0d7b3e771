% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Runs of <bdi>{{row["name"]}}</bdi></h1>
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/projects', project, 'actions', row['id'])}}">Edit</a>
<a class="button" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Test</a>
% end
</div>
% if not runs:
<p class="empty">{{"No runs yet. A set runs when a signal matches all its filters." if at_newest else "No older runs."}}</p>
% else:
<ol class="log">
% for run in runs:
<li>
<details id="run-{{run['id']}}">
<summary>
% include("actions/action_runs/state.tpl", run=run)
% include("partials/time.tpl", at=run["created_at"])
<span>{{run["cause"]}}</span>
% if run["duration"]:
<span class="muted">{{run["duration"]}}</span>
% end
% if run["reverted_by_run_id"]:
<span class="tag">reverted</span>
% end
% if run["revert_due_at"]:
<span class="tag">auto-revert scheduled</span>
% end
</summary>
% include("actions/action_runs/run.tpl", run=run)
<p class="actions"><a href="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'])}}">Run {{run["id"]}}</a></p>
</details>
</li>
% end
</ol>
% end
% include("partials/pager.tpl")
