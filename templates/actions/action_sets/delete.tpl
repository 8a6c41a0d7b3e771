% rebase("layout.tpl", title=title, live=False)
<h1>Delete the action set <bdi>{{row["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
<p>It does nothing any more from then on. What its runs changed stays as it is, and so do their records.</p>
<p>To stop it for a while, switch it off instead.</p>
<form method="post" action="{{url('/admin/projects/%s/actions/%d/delete' % (project, row['id']))}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete action set</button>
<a href="{{url('/admin/projects/%s/actions' % project)}}">Cancel</a>
</form>
