% rebase("layout.tpl", title=title, live=live)
% can_edit = identity.has_permission("EDIT")
% is_admin = identity.has_permission("ADMIN")
% if not has_flags:
<h1>Start here</h1>
<p class="hint">Turn features on and off while they run. An alert can turn one off, and a release that goes wrong rolls itself back. <a href="{{url('/docs/guide/quickstart')}}">Quickstart</a></p>
% include("system/home/start.tpl", steps=steps)
% else:
<div class="heading">
<h1>Home</h1>
% if live:
<p class="hint">● Live · <a href="?live=off">Pause</a></p>
% else:
<p class="hint">Paused · <a href="{{url('/')}}">Resume</a></p>
% end
</div>
<div class="heading">
<p>Production: {{number(counts["on_count"])}} on · {{number(counts["off_count"])}} off · {{number(alert_count)}} off by alerts · {{plural(release_count, "release")}} under way</p>
% if can_edit:
<a class="button quiet" href="{{url('/admin/emergency')}}">Emergency …</a>
% end
</div>
<div id="now" {{"data-live" if live else ""}} aria-live="off">
% if is_quiet:
% if can_alert:
<p id="quiet"><span class="tag gets"><span aria-hidden="true">✓</span> Nothing is off by an alert.</span>
% if last_alert_at:
Last alert
% include("partials/time.tpl", at=last_alert_at)

% end
</p>
% end
% else:
<section id="needs-you" aria-label="Needs you">
% if cards:
<ul class="cards" id="alerts">
% for card in cards:
% include("system/home/alert.tpl", card=card)
% end
</ul>
% end
% if failed:
<ul class="rows" id="failed">
% for run in failed:
<li>
<span class="tag broken"><span aria-hidden="true">✕</span> {{"not done" if run["is_schedule"] else "failed"}}</span>
% include("partials/time.tpl", at=run["created_at"])
<bdi>{{run["name"]}}</bdi>
<bdi>{{run["effect"]}}</bdi>
<a href="{{url('/admin/projects', run['project'], 'actions', run['action_set_id'], 'runs', run['id'])}}">Review<span class="hidden"> {{run["name"]}}</span></a>
% if is_admin and not run["is_schedule"]:
<a href="{{url('/admin/projects', run['project'], 'actions', run['action_set_id'])}}">Change it<span class="hidden"> ({{run["name"]}})</span></a>
% end
</li>
% end
</ul>
% end
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
<p class="muted"><bdi>{{release["headline"]}}</bdi></p>
</li>
% end
</ul>
% end
% if off_releases:
<ul class="rows" id="off-releases">
% for release in off_releases:
<li>
<span class="tag waits"><span aria-hidden="true">▲</span> off</span>
<span><a href="{{url(release["path"])}}"><bdi>{{release["feature"]}}</bdi></a> is off in <bdi>{{release["environment"]}}</bdi>, so its release reaches nobody</span>
% if can_edit:
<form method="post" action="{{url('/admin/features', release["feature"], 'environments', release["environment"], 'on')}}" data-swap="now">
% include("partials/csrf.tpl")
<button class="quiet">Turn on …<span class="hidden"> {{release["feature"]}}</span></button>
</form>
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
% if integrations:
<ul class="rows" id="integrations">
% for row in integrations:
<li>
<span class="tag broken"><span aria-hidden="true">✕</span> failing</span>
<span><bdi>{{row["name"]}}</bdi> can't be reached: {{row["waiting"]}}. <bdi>{{row["error"]}}</bdi></span>
% if is_admin:
<a href="{{url('/admin/integrations', row["id"])}}">See<span class="hidden"> {{row["name"]}}</span></a>
% end
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
<section id="changes">
<h2>Today in production</h2>
% include("system/events/recent.tpl", changes=changes)
<p><a href="{{url('/admin/events')}}">Audit log</a></p>
</section>
% if steps:
<details class="card" id="first-steps">
<summary>Start here: {{done_count}} of {{len(steps)}} done</summary>
% include("system/home/start.tpl", steps=steps)
<form method="post" action="{{url('/hide-start')}}">
% include("partials/csrf.tpl")
<button class="quiet">Hide</button>
</form>
</details>
% end
% end
