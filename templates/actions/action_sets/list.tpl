% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Actions of <bdi>{{project}}</bdi></h1>
% if not limit_text:
<a class="button" href="{{url('/admin/projects', project, 'actions', 'new')}}">New action set</a>
% end
</div>
<p class="hint">{{count}} of {{limit}} action sets. Change flags of this project automatically when a signal matches. {{limit_text}}</p>
% if not table.rows:
% include("actions/action_sets/empty.tpl")
% else:
<h2 class="hidden">Action sets</h2>
% include("partials/table.tpl")
% end
