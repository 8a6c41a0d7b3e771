<p>\\
% if alert["text"]:
“<bdi>{{alert["text"]}}</bdi>” · \\
% end
<a href="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'])}}"><bdi>{{alert["name"]}}</bdi></a>\\
% if identity.has_permission("ADMIN") and alert["has_signal"]:
 · <a href="{{url('/admin/signals', alert['endpoint_id'], 'log', alert['signal_id'])}}">signal {{alert["signal_id"]}}</a>\\
% end
</p>
% if alert["is_firing"] and not alert["kept_by"]:
<p class="muted">If it has resolved, its end was lost or arrived too early: turn the flag back on. Last signal about it:
% include("partials/time.tpl", at=alert["reported_at"])
</p>
% end
% if can_edit:
<div class="actions"><a class="button" href="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'], 'undo')}}" data-dialog>Turn back on …</a>
% if not alert["kept_by"]:
<form method="post" action="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'], 'keep-off')}}">
% include("partials/csrf.tpl")
<input type="hidden" name="feature" value="{{row["name"]}}">
<input type="hidden" name="environment" value="{{environment["name"]}}">
<button class="quiet">Keep off</button>
</form>
% end
</div>
% end
