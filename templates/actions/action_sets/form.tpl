% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/projects', project, 'actions')}}">Actions of {{project}}</a></p>
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
% if row:
<a href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}">History</a>
<a class="button" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Test</a>
% end
</div>
% if not has_accounts:
<p class="problem">An action set runs as a service account. <a href="{{url('/admin/service-accounts/new')}}">Create one with the role Editor</a> first.</p>
% end
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% if row:
<input type="hidden" name="recipe" value="{{values.recipe}}">
% else:
<div class="actions">
% include("partials/form_field.tpl", field=template_field)
<button class="quiet" id="apply-template" name="do" value="template" formaction="{{action}}" formnovalidate data-swap="editor">Apply</button>
</div>
% end
% if selected_template:
<section class="empty">
<h2>Setup in {{selected_template.title}}</h2>
<pre tabindex="0"><code id="setup">{{setup}}</code></pre>
<p><button type="button" class="quiet" data-copy="setup" hidden>Copy setup</button></p>
</section>
% end
% include("partials/form_fields.tpl", fields=general)
% include("actions/action_sets/trigger.tpl")
% include("actions/action_sets/actions.tpl")
% include("actions/action_sets/options.tpl")
% include("actions/action_sets/notifications.tpl")
<p class="actions save">
<button>Save action set</button>
<a href="{{url('/admin/projects', project, 'actions')}}">Cancel</a>
</p>
</form>
