% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/projects', project, 'actions')}}">Actions of {{project}}</a></p>
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
% if row:
<a href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}">History</a>
<a class="button" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Test</a>
% end
</div>
% include("partials/problems.tpl")
% if not has_accounts:
<p class="problem">An action set runs as a service account. <a href="{{url('/admin/service-accounts/new')}}">Create one with the role Editor</a> first.</p>
% end
% if not row:
<form method="get">
<input type="hidden" name="source" value="{{values.source}}">
<div class="actions">
% include("partials/form_field.tpl", field=template_field)
<button class="quiet">Apply</button>
</div>
</form>
% end
% if selected_template:
<section class="empty">
<h2>Setup in {{selected_template.title}}</h2>
<p class="text">{{selected_template.setup}}</p>
</section>
% end
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="recipe" value="{{values.recipe}}">
% include("partials/form_fields.tpl", fields=general)
% include("actions/action_sets/trigger.tpl")
% include("actions/action_sets/actions.tpl")
% include("actions/action_sets/options.tpl")
% include("actions/action_sets/notifications.tpl")
<p class="actions">
<button>Save action set</button>
<a href="{{url('/admin/projects', project, 'actions')}}">Cancel</a>
</p>
</form>
