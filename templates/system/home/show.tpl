% rebase("layout.tpl", title=title, live=live)
<div class="heading">
<h1>Home</h1>
% if live:
<p class="hint">● Live · <a href="?live=off">Pause</a></p>
% else:
<p class="hint">Paused · <a href="{{url('/')}}">Resume</a></p>
% end
</div>
% can_edit = identity.has_permission("EDIT")
% is_admin = identity.has_permission("ADMIN")
<div id="now" {{"data-live" if live else ""}} aria-live="off">
% if is_quiet:
<p id="quiet"><span class="tag gets"><span aria-hidden="true">✓</span> Nothing needs you.</span>
% if last_alert_at:
Last alert
% include("partials/time.tpl", at=last_alert_at)

% end
{{plural(running_count, "release") + " under way." if running_count else ""}}</p>
% else:
<section id="needs-you">
<h2>Needs you</h2>
% if on_hold:
<ul class="rows release-rows" id="held">
% for release in on_hold:
% include("releases/row.tpl", release=release)
% end
</ul>
% end
% if rolled_back:
<ul class="rows release-rows" id="rolled-back">
% for release in rolled_back:
<li>
% include("releases/state.tpl", release=release)
% include("partials/time.tpl", at=release["ended_at"])
<a href="{{url(release["path"])}}"><bdi>{{release["feature"]}}</bdi> in <bdi>{{release["environment"]}}</bdi></a>
<p class="muted"><bdi>{{" ".join(release["sentences"])}}</bdi></p>
</li>
% end
</ul>
% end
% if alert_flags:
<ul class="rows" id="alerts">
% for row in alert_flags:
<li>
<span class="tag waits"><span aria-hidden="true">⚠</span> alert</span>
% include("partials/time.tpl", at=row["created_at"])
<span class="tag broken">{{"enabled" if row["enabled"] else "disabled"}}</span>
<a href="{{url(row['path'])}}">{{row["feature"]}}</a>
<span>in {{row["environment"]}}</span>
<span>by <a href="{{url('/admin/projects', row['project'], 'actions', row['action_set_id'], 'runs', row['id'])}}">run {{row["id"]}} of <bdi>{{row["name"]}}</bdi></a></span>
<span>{{"still firing" if row["is_firing"] else "no longer firing"}}</span>
% if row["summary"]:
% include("signals/signals/summary.tpl", summary=row["summary"])
% end
% if is_admin and row["has_signal"]:
<a href="{{url('/admin/signals', row['endpoint_id'], 'log', row['signal_id'])}}">Signal {{row["signal_id"]}}</a>
% end
% if can_edit:
<a href="{{url('/admin/projects', row['project'], 'actions', row['action_set_id'], 'runs', row['id'], 'undo')}}" data-dialog>Undo …<span class="hidden"> run {{row["id"]}}</span></a>
% end
</li>
% end
</ul>
% end
% if silent:
<ul class="rows" id="silent">
% for row in silent:
<li>
<span class="tag broken"><span aria-hidden="true">✕</span> silent</span>
<bdi>{{row["name"]}}</bdi>
<span>for {{row["duration"]}}</span>
% if row["last_signal_at"]:
<span class="muted">last signal
% include("partials/time.tpl", at=row["last_signal_at"])
</span>
% end
% if is_admin:
<a href="{{url('/admin/signals', row['id'], 'log')}}">Open<span class="hidden"> {{row["name"]}}</span></a>
% end
</li>
% end
</ul>
% end
% if not_done:
<ul class="rows" id="not-done">
% for run in not_done:
<li>
<span class="tag broken"><span aria-hidden="true">✕</span> not done</span>
% include("partials/time.tpl", at=run["created_at"])
<bdi>{{run["name"]}}</bdi>
<bdi>{{run["text"]}}</bdi>
<a href="{{url('/admin/projects', run['project'], 'actions', run['action_set_id'], 'runs', run['id'])}}">Review<span class="hidden"> {{run["name"]}}</span></a>
</li>
% end
</ul>
% end
</section>
% end
% if releases:
% include("releases/rows.tpl", heading="Releases under way", more_path="/admin/releases", more_label="All releases", is_live=False)
% end
% include("actions/scheduled/list.tpl", scheduled=scheduled)
</div>
% if steps:
<section class="card" id="first-steps">
<h2>Get started</h2>
<p class="hint">{{done_count}} of {{len(steps)}} steps done.</p>
<ol class="steps">
% for step in steps:
<li {{"class=done" if step["done"] else ""}}>
% include("partials/icon.tpl", name="check" if step["done"] else "circle")
% if step["done"]:
<span>{{step["label"]}}<span class="hidden"> (done)</span></span>
% elif step["allowed"]:
<a href="{{url(step['path'])}}">{{step["label"]}}</a>
% else:
<span>{{step["label"]}} <span class="muted">– ask an admin</span></span>
% end
</li>
% end
</ol>
<p class="hint">Turn features on or off at runtime – per environment, user or percentage – without deploying, and let alerts switch them. <a href="{{url('/docs/guide/quickstart')}}">Quickstart</a></p>
</section>
% end
<div class="columns">
<div>
<section id="changes">
<h2>Recent changes</h2>
% include("system/events/recent.tpl", changes=changes)
<p><a href="{{url('/admin/events')}}">Audit log</a></p>
</section>
<section id="signals">
<h2>Recent signals</h2>
% if not signals:
<p class="empty">No signals yet.</p>
% else:
<ul class="rows">
% for signal in signals:
<li>
% include("partials/time.tpl", at=signal["created_at"])
% if is_admin:
<a href="{{url('/admin/signals', signal['endpoint_id'], 'log')}}">{{signal["endpoint_name"]}}</a>
% include("signals/signals/sender.tpl", signal=signal)
% include("signals/signals/summary.tpl", summary=signal["summary"])
% else:
<bdi>{{signal["endpoint_name"]}}</bdi>
% include("signals/signals/words.tpl", status=signal["status"], severity=signal["severity"])
% end
</li>
% end
</ul>
% end
</section>
</div>
<div class="side">
<section id="runs">
<h2>Recent runs</h2>
% if not runs:
<p class="empty">No runs yet.</p>
% else:
<ul class="rows">
% for run in runs:
<li>
% include("actions/action_runs/state.tpl", run=run)
<a href="{{url('/admin/projects', run['project'], 'actions', run['action_set_id'], 'runs', run['id'])}}"><bdi>{{run["name"]}}</bdi><span class="hidden"> run {{run["id"]}}</span></a>
% include("partials/time.tpl", at=run["created_at"])
% if run["can_undo"] and can_edit:
<a href="{{url('/admin/projects', run['project'], 'actions', run['action_set_id'], 'runs', run['id'], 'undo')}}" data-dialog>Undo<span class="hidden"> run {{run["id"]}}</span></a>
% end
</li>
% end
</ul>
% end
</section>
<section id="stale">
<h2>Flags to clean up</h2>
% if not stale:
<p class="empty">No flag is stale or past its expected lifetime.</p>
% else:
<ul class="rows">
% for row in stale:
<li>
<a href="{{url(row['path'])}}">{{row["name"]}}</a>
<span class="muted">{{row["type"]}}, {{"stale" if row["stale"] else "past its lifetime"}}, created
% include("partials/time.tpl", at=row["created_at"])
</span>
</li>
% end
</ul>
<p class="hint"><a href="{{url('/admin/features')}}?life=stale">{{number(stale_counts[0])}} marked as stale</a> · <a href="{{url('/admin/features')}}?life=expired">{{number(stale_counts[1] - stale_counts[0])}} past their expected lifetime</a></p>
% end
</section>
</div>
</div>
