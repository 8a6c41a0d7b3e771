% rebase("layout.tpl", title=title, live=False)
<h1>Delete token <bdi>{{token["name"]}}</bdi>?</h1>
<p>Whoever calls <strong>{{endpoint["name"]}}</strong> with this token (<code>{{token["secret_prefix"]}}…</code>) is refused from then on. Its signals stay. This can't be undone.</p>
<form method="post" action="{{url('/admin/signals/%d/tokens/%d/delete' % (endpoint['id'], token['id']))}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete token</button>
<a href="{{url('/admin/signals/%d' % endpoint['id'])}}">Cancel</a>
</form>
