% rebase("layout.tpl", title=title, live=is_live)
% can_edit = identity.has_permission("EDIT")
<div class="heading">
<h1>Releases</h1>
% if can_edit:
<a class="button" href="{{url('/admin/releases/new')}}">New release</a>
% end
</div>
<form method="get" class="inline filter">
% for field in filters:
% include("partials/filter_field.tpl", field=field)
% end
<button class="quiet">Filter</button>
</form>
<div id="release-list" data-live>
% if not rows:
<div class="empty">
<p>{{empty}}</p>
<p>A release raises the percentage of a flag in steps, and rolls back when an alert fires or a metric gets worse.</p>
<p class="actions">
% if can_edit:
<a class="button" href="{{url('/admin/releases/new')}}">New release</a>
% end
<a href="{{url('/docs/guide/releases')}}">How releases work</a>
</p>
</div>
% else:
<table class="list release-list">
<thead><tr>
% for label in ("State", "Flag", "Environment", "Step", "Guards", "Cause", "When", "By") if is_ended else ("State", "Flag", "Environment", "Step", "Guards", "Next", "By"):
<th scope="col">{{label}}</th>
% end
% if not is_ended:
<th scope="col"><span class="hidden">Commands</span></th>
% end
</tr></thead>
<tbody>
% for release in rows:
<tr data-announce="{{release["place"]}}: {{release["word"]}} at {{release["rollout"]}}%">
<td>
% include("releases/state.tpl", release=release)
</td>
<th scope="row"><a href="{{url(release["path"])}}"><bdi>{{release["feature"]}}</bdi></a></th>
<td data-label="Environment"><bdi>{{release["environment"]}}</bdi></td>
<td data-label="Step"><span>{{release["rollout"]}}% <span aria-hidden="true">{{release["dots"]}}</span> <span class="muted">{{release["step_text"]}}</span></span></td>
<td data-label="Guards">{{release["guard_summary"] or "–"}}</td>
% if is_ended:
<td data-label="Cause"><bdi>{{release["cause"] or "–"}}</bdi></td>
<td data-label="When"><span>
% include("partials/time.tpl", at=release["ended_at"])
<span class="muted">ran {{release["ran"]}}</span></span></td>
<td data-label="By"><bdi>{{release["createdBy"]}}</bdi></td>
% else:
<td data-label="Next">{{release["next_text"]}}</td>
<td data-label="By"><bdi>{{release["createdBy"]}}</bdi></td>
<td><div class="row-commands">
% include("releases/row_commands.tpl", release=release)
</div></td>
% end
</tr>
% end
</tbody>
</table>
% if hidden_count:
<p class="hint">Only the newest {{len(rows)}}. Filter by project, environment or flag to see the other {{number(hidden_count)}}.</p>
% end
% end
</div>
% include("actions/scheduled/list.tpl", scheduled=scheduled)
