% rebase("layout.tpl", title=title, live=False)
<h1>Undo run {{run["id"]}} of <bdi>{{run["name"]}}</bdi>?</h1>
% if run["can_undo"]:
<p>This reverts the changes below as you. Later manual changes are kept.</p>
<ul>
% for text in run["reverts"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
<form method="post" action="{{url('/admin/projects', project, 'actions', run['set_id'], 'runs', run['id'], 'undo')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Undo run</button>
<a href="{{url('/admin/projects', project, 'actions', run['set_id'], 'runs', run['id'])}}">Cancel</a>
</form>
% else:
<p>There is nothing to undo: the run changed nothing, is already reverted, or is not finished.</p>
<p class="actions"><a href="{{url('/admin/projects', project, 'actions', run['set_id'], 'runs', run['id'])}}">Back to the run</a></p>
% end
