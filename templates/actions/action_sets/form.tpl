% rebase("layout.tpl", title=title, live=False)
% path = "/admin/projects/%s/actions" % project
<p><a href="{{url(path)}}">Actions of {{project}}</a></p>
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
% if row:
<a href="{{url('%s/%d/runs' % (path, row['id']))}}">History</a>
<a class="button" href="{{url('%s/%d/test' % (path, row['id']))}}">Test</a>
% end
</div>
% include("partials/problems.tpl")
% if not accounts:
<p class="problem">A set acts as a service account, and there is none yet. <a href="{{url('/admin/service-accounts/new')}}">Create one with the role Editor</a>, then come back.</p>
% end
% if not row:
<form method="get" class="inline">
<span><label for="recipe">Start from a recipe</label>
<select id="recipe" name="recipe">
<option value="">none</option>
% for name, text in recipes:
<option value="{{name}}" {{"selected" if name == values.recipe else ""}}>{{text}}</option>
% end
</select></span>
<input type="hidden" name="source" value="{{values.source}}">
<button class="quiet">Use the recipe</button>
</form>
% end
% if recipe:
<section class="empty">
<h2>{{recipe.title}}: what to do there</h2>
<p class="text">{{recipe.setup}}</p>
</section>
% end
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="recipe" value="{{values.recipe}}">
% include("partials/field.tpl", name="name", label="Name", value=values.name, required=True, hint="What happens, such as: checkout off when payments fail.")
% include("partials/field.tpl", name="description", label="Description", value=values.description)
% include("partials/check.tpl", name="enabled", label="On: runs when a signal matches", checked=values.enabled)
% include("actions/action_sets/when.tpl")
% include("actions/action_sets/do.tpl")
% include("actions/action_sets/options.tpl")
% include("actions/action_sets/notifications.tpl")
<p class="actions">
<button>Save action set</button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
