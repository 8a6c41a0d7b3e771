% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Projects</h1>
% if identity.has_permission("ADMIN"):
<a class="button" href="{{url('/admin/projects/new')}}">New project</a>
% end
</div>
<p class="hint">Group flags by team or product.</p>
<ul class="cards">
% for project in projects:
<li class="card">
<h2><a href="{{url('/admin/projects', project['id'], 'overview')}}"><bdi>{{project["name"]}}</bdi></a></h2>
% if project["description"]:
<p>{{project["description"]}}</p>
% end
<dl>
<div><dt>ID</dt><dd><code>{{project["id"]}}</code></dd></div>
<div><dt>Flags</dt><dd>{{project["feature_count"]}}</dd></div>
<div><dt>Marked as stale</dt><dd><a href="{{url('/admin/features')}}?project={{project['id']}}&amp;life=stale">{{project["stale_feature_count"]}}<span class="hidden"> marked as stale in {{project["name"]}}</span></a></dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=project["created_at"])
</dd></div>
</dl>
% if identity.has_permission("EDIT"):
<p class="actions">
<a href="{{url('/admin/projects', project['id'], 'edit')}}">Edit<span class="hidden"> {{project["id"]}}</span></a>
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/projects', project['id'], 'actions')}}">Actions<span class="hidden"> of {{project["id"]}}</span></a>
% end
% if identity.has_permission("ADMIN") and project["id"] != "default":
<a href="{{url('/admin/projects', project['id'], 'delete')}}">Delete<span class="hidden"> {{project["id"]}}</span></a>
% end
</p>
% end
</li>
% end
</ul>
