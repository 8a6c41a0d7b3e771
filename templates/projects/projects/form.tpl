% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/projects')}}">Projects</a></p>
<h1><bdi>{{project["name"] if project else "New project"}}</bdi></h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/projects/%s/edit' % project['id'] if project else '/admin/projects/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="name", label="Name", value=values["name"], required=True)
% if project:
<p>Id: <code>{{project["id"]}}</code></p>
% else:
% include("partials/field.tpl", name="id", label="Id", value=values["id"], hint="Optional: letters, digits, - . _ and ~. API tokens and scripts name the project by it; it never changes. Without one it is made from the name.")
% end
% include("partials/field.tpl", name="description", label="Description", value=values["description"], hint="Optional: what the flags in it are about.")
% wrong = [problem["message"] for problem in problems if problem.get("path") == "default_stickiness"]
<div class="field">
<label for="default_stickiness">Stickiness of new strategies</label>
<p class="hint" id="default_stickiness-hint">What decides who belongs to a share of users. default: the user, else the session, else chance.</p>
% if wrong:
<p class="wrong" id="default_stickiness-problem">{{" ".join(wrong)}}</p>
% end
<select id="default_stickiness" name="default_stickiness" aria-describedby="default_stickiness-hint{{" default_stickiness-problem" if wrong else ""}}" aria-invalid="{{"true" if wrong else "false"}}">
% for name in stickiness:
<option value="{{name}}" {{"selected" if name == values["default_stickiness"] else ""}}>{{name}}</option>
% end
</select>
</div>
<button>{{"Save" if project else "Create project"}}</button>
</form>
% if project:
<section>
<h2>Environments</h2>
<p class="hint">Where the project's flags are. In an environment that is taken away they are off; their strategies stay.</p>
<ul class="rows">
% for link in links:
<li>
<strong>{{link["name"]}}</strong>
<span class="badge">{{link["type"]}}</span>
<span class="muted">{{plural(link["enabled_toggle_count"], "flag")}} on{{"" if link["enabled"] else ", environment is off"}}</span>
<form method="post" action="{{url('/admin/projects/%s/environments/%s/%s' % (project['id'], link['name'], 'unlink' if link['visible'] else 'link'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if link['visible'] else 'false'}}" aria-label="Use {{link['name']}}">{{"used" if link["visible"] else "not used"}}</button>
</form>
</li>
% end
</ul>
</section>
% if identity.has_permission("ADMIN"):
<section>
<h2>Actions</h2>
<p><a href="{{url('/admin/projects/%s/actions' % project['id'])}}">Action sets of this project</a>: what signals switch.</p>
</section>
% end
% if identity.has_permission("ADMIN") and project["id"] != "default":
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/projects/%s/delete' % project['id'])}}">Delete this project …</a></p>
</section>
% end
% end
