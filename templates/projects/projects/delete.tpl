% rebase("layout.tpl", title=title, live=False)
<h1>Delete <bdi>{{project["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
% if project["id"] == "default":
<p>This project is built in and stays.</p>
% elif project["feature_count"] or segments:
<p>Not yet: it holds {{plural(project["feature_count"], "flag")}} and {{plural(len(segments), "segment")}}. Archive or move the flags, and delete the segments or take them out of the project.</p>
% else:
<p>The project <code>{{project["id"]}}</code> goes with its archived flags, for good. API tokens that are for it alone open nothing any more.</p>
<form method="post" action="{{url('/admin/projects/%s/delete' % project['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete project</button>
<a href="{{url('/admin/projects')}}">Cancel</a>
</form>
% end
