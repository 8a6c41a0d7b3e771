% rebase("layout.tpl", title=title, live=is_live)
% can_edit = identity.has_permission("EDIT")
<div class="heading">
<h1>Releases</h1>
% if can_edit and rows:
<a class="button" href="{{url('/admin/releases/new')}}">New release</a>
% end
</div>
<div class="filters">
% for label, count, link, is_current in groups:
<a href="?{{link}}" {{"aria-current=page" if is_current else ""}}>{{label}} {{number(count)}}</a>
% end
<form method="get" role="search">
<input type="search" name="flag" value="{{filters["flag"]}}" maxlength="100" placeholder="Search flag, environment" aria-label="Search flag, environment">
% for name in ("state", "project"):
% if filters[name]:
<input type="hidden" name="{{name}}" value="{{filters[name]}}">
% end
% end
</form>
</div>
<div id="release-list" data-live>
% if not rows:
<div class="empty">
<p>{{empty}} A release raises the percentage in steps, and goes back when an alert fires or a number gets worse.</p>
% if can_edit:
<p><a class="button" href="{{url('/admin/releases/new')}}">New release</a></p>
% end
</div>
% else:
<table class="one-line release-list">
<thead class="hidden"><tr>
% for label in ("State", "Flag", "Percentage", "Cause", "Ended", "Ran") if is_ended else ("State", "Flag", "Environment", "Step", "Guards", "Next", "By", "Commands"):
<th scope="col">{{label}}</th>
% end
</tr></thead>
<tbody>
% for release in rows:
% if release.get("change"):
% include("releases/planned_change.tpl", item=release["change"])
% else:
<tr data-announce="{{release["place"]}}: {{release["word"]}} at {{release["rollout"]}}%">
<td>
% include("releases/state.tpl", release=release)
</td>
<th scope="row"><a href="{{url(release["path"])}}" title="{{release["place"]}}"><bdi>{{release["feature"]}}</bdi></a>
% if is_ended:
<span class="muted"><bdi>{{release["environment"]}}</bdi></span>
% end
</th>
% if is_ended:
<td>{{release["change_text"]}}</td>
<td class="reason" title="{{release["cause"]}}"><bdi>{{release["cause"]}}\\
% if release["alert"] and release["alert"]["text"]:
: {{release["alert"]["text"]}}\\
% end
</bdi></td>
<td>
% include("partials/time.tpl", at=release["ended_at"])
</td>
<td class="muted">ran {{release["ran"]}}</td>
% else:
<td><bdi>{{release["environment"]}}</bdi></td>
<td>{{release["rollout"]}}% <span class="muted">{{release["step_text"]}}</span></td>
<td class="cause" title="{{release["cause"]}}"><bdi>{{release["cause"] if release["state"] == "held" else release["guard_summary"]}}</bdi></td>
<td>{{release["next_text"]}}</td>
<td class="muted by"><bdi>{{release["createdBy"]}}</bdi></td>
<td><div class="row-commands">
% include("releases/row_commands.tpl", release=release)
</div></td>
% end
</tr>
% end
% end
</tbody>
</table>
% if hidden_count:
<p class="hint">Only the newest {{len(rows)}}. Search to see the other {{number(hidden_count)}}.</p>
% end
% end
</div>
