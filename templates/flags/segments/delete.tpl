% rebase("layout.tpl", title=title, live=False)
<h1>Delete segment <bdi>{{segment["name"]}}</bdi>?</h1>
% include("partials/problems.tpl")
% if users:
<p>Not yet: these flags use it. Take it out of their strategies first.</p>
<ul>
% for user in users:
<li><a href="{{url(flag_path(user['feature']))}}">{{user["feature"]}}</a> in {{user["environment"]}}</li>
% end
</ul>
<p><a href="{{url('/admin/segments')}}">Back to the segments</a></p>
% else:
<p>No flag uses it. This can't be undone.</p>
<form method="post" action="{{url('/admin/segments/%d/delete' % segment['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete segment</button>
<a href="{{url('/admin/segments')}}">Cancel</a>
</form>
% end
