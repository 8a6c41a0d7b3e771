% rebase("layout.tpl", title=title, live=False)
% name = feature["name"]
<h1>Delete {{name}}?</h1>
<p>The flag goes with its strategies and tags, for good. Its events stay. Another flag may then have the name.</p>
<form method="post" action="{{url('/admin/features/%s/delete' % name)}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete flag</button>
<a href="{{url(path)}}">Cancel</a>
</form>
