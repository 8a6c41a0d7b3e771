% rebase("layout.tpl", title=title, live=False)
% path = "/admin/projects/%s/actions" % project
<p><a href="{{url(path)}}">Actions of {{project}}</a></p>
<div class="heading">
<h1>Runs of <bdi>{{row["name"]}}</bdi></h1>
<a href="{{url('%s/%d' % (path, row['id']))}}">Edit</a>
<a class="button" href="{{url('%s/%d/test' % (path, row['id']))}}">Test</a>
</div>
% if not runs:
% if at_newest:
<p class="empty">No run yet. A set runs when a signal arrives that matches all of its filters.</p>
% else:
<p class="empty">No older run.</p>
% end
% end
% if runs:
<ol class="log">
% for run in runs:
<li>
<details id="run-{{run['id']}}">
<summary>
% include("actions/action_runs/state.tpl", run=run)
% include("partials/time.tpl", at=run["created_at"])
<span>by {{run["cause"]}}</span>
% if run["took"]:
<span class="muted">{{run["took"]}}</span>
% end
% if run["restored_by_run_id"]:
<span class="badge">undone</span>
% end
% if run["restore_due_at"]:
<span class="badge">restores later</span>
% end
</summary>
% include("actions/action_runs/run.tpl", run=run)
<p class="actions"><a href="{{url('%s/%d/runs/%d' % (path, run['set_id'], run['id']))}}">Run {{run["id"]}}</a></p>
</details>
</li>
% end
</ol>
% end
% include("partials/pager.tpl")
