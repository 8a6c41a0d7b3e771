% rebase("layout.tpl", title=title, live=False)
<h1>Delete the action set <bdi>{{row["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
<p>Permanently deletes the action set. Its runs and the flags that it changed are kept.</p>
<p>To stop it for a while, disable it instead.</p>
<form method="post" action="{{url('/admin/projects', project, 'actions', row['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete action set</button>
<a href="{{url('/admin/projects', project, 'actions')}}">Cancel</a>
</form>
