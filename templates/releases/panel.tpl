<section class="release {{release["style"]}}" id="release-{{release["id"]}}" {{"data-live" if release["is_active"] and release["back"] else ""}} aria-labelledby="release-{{release["id"]}}-name">
<div class="heading">
<h4 id="release-{{release["id"]}}-name" data-announce="Release {{release["id"]}}: {{release["word"]}} at {{release["rollout"]}}%"><span class="tag {{release["style"]}}"><span aria-hidden="true">{{release["icon"]}}</span> Release {{release["id"]}}</span> · {{release["headline"]}}</h4>
<span class="muted">{{"created" if release["state"] == "scheduled" else "started"}}
% include("partials/time.tpl", at=release["begin_at"])
by <bdi>{{release["createdBy"]}}</bdi></span>
</div>
% for index, sentence in enumerate(release["sentences"]):
% if sentence:
<p {{"class=cause" if not index and release["style"] in ("waits", "broken") else ""}}><bdi>{{sentence}}</bdi></p>
% end
% end
% alert = release["alert"]
% if alert:
<p>
% if alert["alert"]:
Alert <bdi>{{alert["alert"]}}</bdi>\\
% if alert["text"]:
, “<bdi>{{alert["text"]}}</bdi>”\\
% end
 ·
% end
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/signals', alert['endpoint_id'], 'log', alert['signal_id'])}}">signal {{alert["signal_id"]}}</a>
% else:
signal {{alert["signal_id"]}}
% end
% if alert["runbook"]:
· <a href="{{alert["runbook"]}}" rel="noopener noreferrer">runbook ↗</a>
% end
</p>
% end
% if release["can_mark_stale"]:
<form method="post" action="{{url('/admin/features')}}">
% include("partials/csrf.tpl")
<input type="hidden" name="flag.{{release["feature"]}}" value="on">
<button class="quiet" name="change" value="stale">Mark as stale<span class="hidden">: {{release["feature"]}}</span></button>
</form>
% end
% include("releases/track.tpl", steps=release["track"])
% if release["window_text"] and release["is_active"]:
<p class="muted">Steps only {{release["window_text"]}}</p>
% end
% if release["guard_rows"] and release["is_active"]:
% include("releases/guard_table.tpl", rows=release["guard_rows"], name="Guards of release " + str(release["id"]))
% elif release["is_active"]:
<p class="muted">No guards: it goes on when the time of a step is over.</p>
% end
% for warning in release["warnings"] if release["is_active"] else ():
<p class="hint"><bdi>{{warning["message"]}}</bdi></p>
% end
% include("releases/commands.tpl", release=release)
</section>
