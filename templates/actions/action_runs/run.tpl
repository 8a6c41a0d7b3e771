% if run["reason"]:
<p>{{run["reason"]}}</p>
% end
% can_edit = identity.has_permission("EDIT")
% is_admin = identity.has_permission("ADMIN")
% if run["signal_id"] and not is_admin:
<p class="muted">Signal {{run["signal_id"]}}</p>
% elif run["has_signal"]:
<p><a href="{{url('/admin/signals', run['endpoint_id'], 'log', run['signal_id'])}}">Signal {{run["signal_id"]}}</a></p>
% elif run["signal_id"]:
<p class="muted">Signal {{run["signal_id"]}} has expired.</p>
% end
% if run["reverts_run_id"]:
<p>Reverts
% include("actions/action_runs/run_link.tpl", id=run["reverts_run_id"])
</p>
% end
% if run["state"] != "suppressed":
<ol class="strategies">
% for action in run["actions"]:
<li><bdi>{{action["text"]}}</bdi>: <strong class="tag {{'gets' if action['state'] == 'success' else 'broken' if action['state'] == 'failed' else ''}}">{{"succeeded" if action["state"] == "success" else action["state"]}}</strong>
% if action["details"]:
<bdi>{{action["details"]}}</bdi>
% end
% if action["changes"]:
<ul>
% for text in action["changes"]:
<li><bdi>{{text}}</bdi></li>
% end
% if action["more_changes"]:
<li>and {{action["more_changes"]}} more</li>
% end
</ul>
% end
</li>
% end
</ol>
% end
% if run["reverted_by_run_id"]:
<p>Reverted by
% include("actions/action_runs/run_link.tpl", id=run["reverted_by_run_id"])
</p>
% end
% if run["revert_due_at"] and not can_edit:
<p>Auto-revert
% include("partials/time.tpl", at=run["revert_due_at"])
</p>
% elif run["revert_due_at"]:
<form method="post" action="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'], 'cancel-restore')}}" class="inline">
% include("partials/csrf.tpl")
Auto-revert
% include("partials/time.tpl", at=run["revert_due_at"])
<button class="quiet">Cancel auto-revert<span class="hidden"> of run {{run["id"]}}</span></button>
</form>
% end
% if run["can_undo"] and can_edit:
<p class="actions"><a href="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'], 'undo')}}" data-dialog>Undo run {{run["id"]}} …</a></p>
% end
