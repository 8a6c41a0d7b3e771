% rebase("layout.tpl", title=title, live=False)
<h1>Delete {{name}}?</h1>
<p>Permanently deletes the flag, its strategies and tags. Events are kept; the name can be reused.</p>
<form method="post" action="{{url('/admin/features', name, 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete permanently</button>
<a href="{{url(flag_path(name))}}">Cancel</a>
</form>
