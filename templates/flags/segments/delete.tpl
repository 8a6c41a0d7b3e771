% rebase("layout.tpl", title=title, live=False)
<h1>Delete segment <bdi>{{segment["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
% if users:
<p>Can't delete: used by these flags. Remove it from their strategies first.</p>
<ul>
% for user in users:
<li><a href="{{url(flag_path(user['feature']))}}">{{user["feature"]}}</a> in {{user["environment"]}}</li>
% end
</ul>
<p><a href="{{url('/admin/segments')}}">Back to segments</a></p>
% else:
<p>No flag uses this segment. This can't be undone.</p>
<form method="post" action="{{url('/admin/segments', segment['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete segment</button>
<a href="{{url('/admin/segments')}}">Cancel</a>
</form>
% end
