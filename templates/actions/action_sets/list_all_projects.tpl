% rebase("layout.tpl", title=title, live=False)
<h1>Automation</h1>
<p class="hint">Change flags automatically when a signal matches.</p>
% if not has_sets and can_change:
% include("actions/action_sets/empty.tpl")
% end
% for project in projects:
<section>
<div class="heading">
% if can_change:
<h2><a href="{{url('/admin/projects', project['id'], 'actions')}}"><bdi>{{project["name"]}}</bdi></a></h2>
% else:
<h2><bdi>{{project["name"]}}</bdi></h2>
% end
% if can_change and project["count"] < limit:
<a href="{{url('/admin/projects', project['id'], 'actions', 'new')}}">New action set<span class="hidden"> in {{project["id"]}}</span></a>
% end
</div>
% if project["table"].rows:
% include("partials/table.tpl", table=project["table"])
% else:
<p class="muted">No action sets</p>
% end
</section>
% end
