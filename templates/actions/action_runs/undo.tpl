% rebase("layout.tpl", title=title, live=False)
% path = "/admin/projects/%s/actions/%d/runs/%d" % (project, run["set_id"], run["id"])
<h1>Undo run {{run["id"]}} of <bdi>{{run["name"]}}</bdi>?</h1>
% changes = [text for act in run["acts"] for text in act["changes"]]
% if run["undoable"]:
<p>This was changed, and goes back to what it was, in your name. What somebody changed since is left alone.</p>
<ul>
% for text in changes:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
<form method="post" action="{{url(path + '/undo')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Undo the run</button>
<a href="{{url(path)}}">Cancel</a>
</form>
% else:
<p>There is nothing to undo: it changed nothing, it was undone, or it is not finished.</p>
<p class="actions"><a href="{{url(path)}}">Back to the run</a></p>
% end
