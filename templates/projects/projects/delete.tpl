% rebase("layout.tpl", title=title, live=False)
<h1>Delete <bdi>{{project["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
% if project["id"] == "default":
<p>The default project can't be deleted.</p>
% elif project["feature_count"] or segments:
<p>Can't delete: the project has {{plural(project["feature_count"], "flag")}} and {{plural(len(segments), "segment")}}. Archive or move the flags and delete or move the segments first.</p>
% else:
<p>Permanently deletes the project <code>{{project["id"]}}</code> and its archived flags. Tokens scoped only to it stop working.</p>
<form method="post" action="{{url('/admin/projects', project['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete project</button>
<a href="{{url('/admin/projects')}}">Cancel</a>
</form>
% end
