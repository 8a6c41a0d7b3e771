% rebase("layout.tpl", title=title, live=False)
<h1>Actions</h1>
<p class="hint">Action sets switch flags when a signal arrives. Each belongs to a project.</p>
% if not any(project["sets"] for project in projects):
% include("actions/action_sets/about.tpl")
% end
% for project in projects:
<section>
<div class="heading">
<h2><a href="{{url('/admin/projects/%s/actions' % project['id'])}}"><bdi>{{project["name"]}}</bdi></a></h2>
% if len(project["sets"]) < limit:
<a href="{{url('/admin/projects/%s/actions/new' % project['id'])}}">New action set<span class="hidden"> in {{project["id"]}}</span></a>
% end
</div>
% if project["sets"]:
<ul class="cards">
% for one in project["sets"]:
% include("actions/action_sets/card.tpl", item=one)
% end
</ul>
% else:
<p class="muted">No action set.</p>
% end
</section>
% end
