% at = "/admin/projects/%s/actions/%d/runs" % (project, run["set_id"])
% if run["reason"]:
<p>{{run["reason"]}}</p>
% end
% if run["signal_id"] and run["source_id"]:
<p><a href="{{url('/admin/signals/%d/log/%d' % (run['source_id'], run['signal_id']))}}">Signal {{run["signal_id"]}}</a></p>
% elif run["signal_id"]:
<p class="muted">Signal {{run["signal_id"]}} is kept no longer.</p>
% end
% if run["restores_run_id"]:
<p>It undoes <a href="{{url('%s/%d' % (at, run['restores_run_id']))}}">Run {{run["restores_run_id"]}}</a>.</p>
% end
% if run["state"] != "suppressed":
<ol class="strategies">
% for act in run["acts"]:
<li><bdi>{{act["words"]}}</bdi>: <strong class="result {{'yes' if act['state'] == 'success' else 'no' if act['state'] == 'failed' else ''}}">{{"done" if act["state"] == "success" else act["state"]}}</strong>
% if act["details"]:
<bdi>{{act["details"]}}</bdi>
% end
% if act["changes"]:
<ul>
% for text in act["changes"]:
<li><bdi>{{text}}</bdi></li>
% end
% if act["more"]:
<li>and {{act["more"]}} more</li>
% end
</ul>
% end
</li>
% end
</ol>
% end
% if run["restored_by_run_id"] and run["restored_by_run_id"] != run["id"]:
<p>Undone by <a href="{{url('%s/%d' % (at, run['restored_by_run_id']))}}">Run {{run["restored_by_run_id"]}}</a>.</p>
% elif run["restored_by_run_id"]:
<p>Undone by an action of another set.</p>
% end
% if run["restore_due_at"]:
<form method="post" action="{{url('%s/%d/cancel-restore' % (at, run['id']))}}" class="inline">
% include("partials/csrf.tpl")
What it changed is put back at
% include("partials/time.tpl", at=run["restore_due_at"])
<button class="quiet">Leave it as it is<span class="hidden">: run {{run["id"]}}</span></button>
</form>
% end
% if run["undoable"]:
<p class="actions"><a href="{{url('%s/%d/undo' % (at, run['id']))}}">Undo run {{run["id"]}} …</a></p>
% end
