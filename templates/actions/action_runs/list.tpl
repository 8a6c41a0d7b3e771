% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{row["name"]}}</bdi></h1>
% if identity.has_permission("ADMIN"):
<a class="button quiet" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Try it</a>
<a class="button quiet" href="{{url('/admin/projects', project, 'actions', row['id'])}}">Change</a>
% end
</div>
<p><bdi>{{sentence}}</bdi></p>
% if not runs:
<p class="empty">{{"It hasn't acted yet." if at_newest else "Nothing older."}}</p>
% else:
<table class="one-line">
<thead class="hidden"><tr><th scope="col">What it did</th><th scope="col">When</th><th scope="col">Alert</th><th scope="col">Undo</th></tr></thead>
<tbody>
% for run in runs:
% path = url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', run['id'])
<tr>
<th scope="row" title="{{run["sentence"]}}"><a href="{{path}}">{{"✕ " if run["state"] == "failed" else ""}}<bdi>{{run["sentence"]}}</bdi><span class="hidden"> (run {{run["id"]}})</span></a>
% if run["count"] > 1:
<span class="muted">{{run["count"]}} times</span>
% end
</th>
<td>
% include("partials/time.tpl", at=run["created_at"])
</td>
<td><bdi>{{run["alert"]}}</bdi></td>
<td><div class="row-commands">
% if run["can_undo"] and identity.has_permission("EDIT"):
<a class="button quiet" href="{{path}}/undo" data-dialog>Undo …<span class="hidden"> run {{run["id"]}}</span></a>
% end
</div></td>
</tr>
% end
</tbody>
</table>
% end
% include("partials/pager.tpl")
