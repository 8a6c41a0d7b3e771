% name, is_on = environment["name"], environment["enabled"]
<section class="card {{"" if is_on or environment["strategies"] else "empty-card"}}" id="in-{{name}}">
<div class="heading">
<h3>{{name}}\\
% if environment["type"] == "production" and name != "production":
 <span class="tag">production</span>\\
% end
</h3>
% if can_edit:
<form method="post" action="{{url(path, 'environments', name, 'off' if is_on else 'on')}}" data-swap="in-{{name}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
<button role="switch" aria-checked="{{'true' if is_on else 'false'}}" aria-label="{{row['name']}} in {{name}}">{{"on" if is_on else "off"}}</button>
</form>
% else:
<strong>{{"on" if is_on else "off"}}</strong>
% end
</div>
% for alert in environment["alerts"]:
<div class="problem">
% if alert["kept_by"]:
<p>Kept off by <bdi>{{alert["kept_by"]}}</bdi>
% include("partials/time.tpl", at=alert["kept_at"])
</p>
% end
<p>⚠ {{"Enabled" if is_on else "Disabled"}} by \\
% if alert["alert"]:
alert <bdi>{{alert["alert"]}}</bdi>,\\
% if alert["text"]:
 “<bdi>{{alert["text"]}}</bdi>”,\\
% end
% else:
an alert{{" of " + alert["endpoint"] if alert["endpoint"] else ""}},\\
% end

% include("partials/time.tpl", at=alert['created_at'])
. {{"It is still firing." if alert["is_firing"] else "It is no longer firing."}}</p>
% if alert["is_firing"]:
<p class="muted">No signal about it has arrived since
% include("partials/time.tpl", at=alert["reported_at"])
. If it has resolved, its end was lost or arrived too early: undo the run.</p>
% end
<p>
<a href="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'])}}">run {{alert["id"]}} of <bdi>{{alert["name"]}}</bdi></a>
% if identity.has_permission("ADMIN") and alert["has_signal"]:
· <a href="{{url('/admin/signals', alert['endpoint_id'], 'log', alert['signal_id'])}}">signal {{alert["signal_id"]}}</a>
% end
% if identity.has_permission("EDIT"):
· <a href="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'], 'undo')}}" data-dialog>Undo …</a>
% end
</p>
% if identity.has_permission("EDIT") and not is_on and not alert["kept_by"]:
<form method="post" action="{{url('/admin/projects', alert['project'], 'actions', alert['action_set_id'], 'runs', alert['id'], 'keep-off')}}">
% include("partials/csrf.tpl")
<input type="hidden" name="feature" value="{{row["name"]}}">
<input type="hidden" name="environment" value="{{name}}">
<button class="quiet">Keep off</button>
</form>
% end
</div>
% end
% if environment["change"] and not environment["alerts"]:
<p class="muted">{{"On" if is_on else "Off"}}: <bdi>{{name_actor(environment["change"]["created_by"], environment["change"]["created_by_user_id"])}}</bdi> switched it
% include("partials/time.tpl", at=environment["change"]["created_at"])
</p>
% end
% release = environment["release"]
% if release:
% include("releases/panel.tpl", release=release)
% end
% rollouts = environment["rollouts"]
% can_release = can_edit and not (release and release["is_active"])
% if can_release and rollouts and rollouts[0] != "100%":
<p class="offer"><span>Release in steps: let guards watch while you raise {{rollouts[0]}} to 100%.</span> <a class="button quiet" href="{{url(environment["release_form"])}}">New release<span class="hidden"> in {{name}}</span></a></p>
% end
% include("actions/scheduled/card.tpl", scheduled=environment["scheduled"])
% if environment["strategies"]:
% if len(environment["strategies"]) > 1:
<p class="hint">Enabled if any strategy matches (OR).</p>
% end
<ol class="strategies">
% for strategy in environment["strategies"]:
% include("flags/features/strategy.tpl", environment=environment, strategy=strategy)
% end
</ol>
% elif is_on:
<p class="muted">No strategies: enabled for everyone.</p>
% end
% if not is_on and not environment["hasEnabledStrategies"]:
<p class="muted">No {{"active strategy" if environment["strategies"] else "strategies"}}. Enabling adds the default strategy (<bdi>{{environment["default"]}}</bdi>).</p>
% end
% if environment["variants"]:
<p>Environment variants (legacy): <bdi>{{environment["variants"]}}</bdi></p>
% end
<p class="actions">
% if can_edit:
<a href="{{url(path, 'environments', name, 'strategies', 'new')}}">Add strategy<span class="hidden"> in {{name}}</span></a>
% if can_release and not rollouts:
<a href="{{url(environment['release_form'])}}">Gradual release …<span class="hidden"> in {{name}}</span></a>
% end
% end
% if can_edit:
<a href="{{url(path, 'schedule')}}?environment={{name}}">Schedule a change<span class="hidden"> in {{name}}</span></a>
% end
% if not row["archived_at"]:
<a href="{{url(environment['playground'])}}#result">Evaluate in playground<span class="hidden">: {{row["name"]}} in {{name}}</span></a>
% end
</p>
% chart = environment["chart"]
% if chart:
<h4>{{chart["heading"]}}</h4>
% include("flags/features/timeline.tpl", chart=chart)
% elif is_on or environment["strategies"]:
<p class="muted">No evaluations in this period</p>
% end
</section>
