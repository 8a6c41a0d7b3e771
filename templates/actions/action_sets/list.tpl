% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/actions')}}">Actions of all projects</a></p>
<div class="heading">
<h1>Actions of <bdi>{{project}}</bdi></h1>
% if len(table.rows) < limit:
<a class="button" href="{{url('/admin/projects', project, 'actions', 'new')}}">New action set</a>
% end
</div>
<p class="hint">{{len(table.rows)}} of {{limit}} action sets. Change flags of this project automatically when a signal matches.{{" Delete one to create another." if len(table.rows) >= limit else ""}}</p>
% if not table.rows:
% include("actions/action_sets/empty.tpl")
% else:
<h2 class="hidden">Action sets</h2>
% include("partials/table.tpl")
% end
