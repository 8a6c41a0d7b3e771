% if row["last_run"]:
% include("actions/action_runs/state.tpl", run=row["last_run"])
% include("partials/time.tpl", at=row["last_run"]["created_at"])
<span class="muted">{{row["last_run"]["reason"] or ""}}</span>
% else:
<span class="muted">never</span>
% end
