% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{project["name"] if project else "New project"}}</bdi></h1>
% include("partials/problems.tpl")
% if project:
<p>ID: <code>{{project["id"]}}</code></p>
% end
<form method="post" action="{{url('/admin/projects', project['id'], 'edit') if project else url('/admin/projects/new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<button>{{"Save" if project else "Create project"}}</button>
</form>
% if project:
<section>
<h2>Environments</h2>
<p class="hint">Environments available to this project. Disabling one disables its flags there but keeps their strategies.</p>
<ul class="rows">
% for link in links:
<li>
<strong>{{link["name"]}}</strong>
<span class="badge">{{link["type"]}}</span>
<span class="muted">{{plural(link["enabled_toggle_count"], "flag")}} enabled{{"" if link["enabled"] else ", environment disabled"}}</span>
<form method="post" action="{{url('/admin/projects', project['id'], 'environments', link['name'], 'unlink' if link['visible'] else 'link')}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if link['visible'] else 'false'}}" aria-label="Use {{link['name']}}">{{"Enabled" if link["visible"] else "Disabled"}}</button>
</form>
% if link["visible"]:
<a href="{{url('/admin/projects', project['id'], 'environments', link['name'], 'default-strategy')}}">Default strategy<span class="hidden"> in {{link["name"]}}</span></a>
% end
</li>
% end
</ul>
</section>
% if identity.has_permission("ADMIN"):
<section>
<h2>Action sets</h2>
<p><a href="{{url('/admin/projects', project['id'], 'actions')}}">Action sets of this project</a></p>
</section>
% end
% if identity.has_permission("ADMIN") and project["id"] != "default":
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/projects', project['id'], 'delete')}}">Delete this project …</a></p>
</section>
% end
% end
