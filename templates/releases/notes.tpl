% alert = release["alert"]
% if alert:
<p>
% if alert["text"]:
“<bdi>{{alert["text"]}}</bdi>” ·
% end
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/signals', alert['endpoint_id'], 'log', alert['signal_id'])}}">signal</a>
% end
% if alert["runbook"]:
· <a href="{{alert["runbook"]}}" rel="noopener noreferrer">runbook ↗</a>
% end
</p>
% end
% if release["hint"]:
<p>{{release["hint"]}}</p>
% end
% if release["window_text"] and release["is_active"]:
<p class="muted">Steps only {{release["window_text"]}}</p>
% end
% if not release["guards"] and release["is_active"]:
<p class="muted">No guards: it goes on when the time of a step is over.</p>
% end
% for warning in release["warnings"] if release["is_active"] and not release["is_off"] else ():
<p class="hint"><bdi>{{warning["message"]}}</bdi></p>
% end
