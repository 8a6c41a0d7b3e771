% rebase("layout.tpl", title=title, live=False)
% can_edit = identity.has_permission("EDIT")
% path = url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'])
<div class="heading">
<h1><bdi>{{run["heading"]}}</bdi></h1>
% if run["can_undo"] and can_edit:
<a class="button quiet" href="{{path}}/undo" data-dialog>Undo …</a>
% end
</div>
% include("partials/problems.tpl")
<table class="one-line">
<thead class="hidden"><tr><th scope="col">Flag</th><th scope="col">Environment</th><th scope="col">Change</th></tr></thead>
<tbody>
% for change in run["changes"]:
<tr>
<th scope="row">\\
% if ("flag", change["feature"]) in existing:
<a href="{{url(flag_path(change["feature"]))}}"><bdi>{{change["feature"]}}</bdi></a>\\
% else:
<bdi>{{change["feature"]}}</bdi>\\
% end
</th>
<td><bdi>{{change["environment"]}}</bdi></td>
<td>{{change["from"]}} → {{change["to"]}}</td>
</tr>
% end
</tbody>
</table>
% if run["more_changes"]:
<p class="muted">and {{run["more_changes"]}} more</p>
% end
<p>
% if run["duration"]:
{{run["duration"]}} after the alert,
% end
% include("partials/time.tpl", at=run["created_at"])
% if run["text"]:
· “<bdi>{{run["text"]}}</bdi>”
% end
% if run["runbook"]:
· <a href="{{run["runbook"]}}" rel="noopener noreferrer">runbook ↗</a>
% end
% if row:
· <a href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}"><bdi>{{run["name"]}}</bdi></a>
% else:
· <bdi>{{run["name"]}}</bdi>
% end
% if run["signal_id"] and not identity.has_permission("ADMIN"):
· signal {{run["signal_id"]}}
% elif ("signal", str(run["endpoint_id"]) + "/" + str(run["signal_id"])) in existing:
· <a href="{{url('/admin/signals', run['endpoint_id'], 'log', run['signal_id'])}}">signal</a>
% elif run["signal_id"]:
· its signal has expired
% end
</p>
% if run["state"] == "failed" and run["details"]:
<p class="answer broken"><span aria-hidden="true">✕</span> <bdi>{{"; ".join(run["details"])}}</bdi></p>
% end
% if reversal:
<p>It was taken back
% include("partials/time.tpl", at=reversal["created_at"])
· <a href="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', reversal['id'])}}">what that did</a></p>
% end
% if ignored_by:
<div class="heading">
<p><bdi>{{ignored_by}}</bdi> took it back. The alert is ignored until it resolves.</p>
% if can_edit:
<form method="post" action="{{path}}/watch-alert">
% include("partials/csrf.tpl")
<button class="quiet">Stop ignoring</button>
</form>
% end
</div>
% end
% if run["revert_due_at"]:
<div class="heading">
<p>It is taken back
% include("partials/time.tpl", at=run["revert_due_at"])
</p>
% if can_edit:
<form method="post" action="{{path}}/cancel-restore">
% include("partials/csrf.tpl")
<button class="quiet">Leave it as it is<span class="hidden">: run {{run["id"]}}</span></button>
</form>
% end
</div>
% end
% if payload:
<details>
<summary>Payload</summary>
<pre tabindex="0"><code>{{payload}}</code></pre>
</details>
% end
