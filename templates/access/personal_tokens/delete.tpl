% rebase("layout.tpl", title=title, live=False)
<h1>Delete token <bdi>{{token["description"]}}</bdi>?</h1>
<p>Whoever comes with this token (<code>{{token["secret_prefix"]}}…</code>) is refused from the next request on. This can't be undone.</p>
<form method="post" action="{{url('%s/tokens/%d/delete' % (back, token['id']))}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete token</button>
<a href="{{url(back)}}">Cancel</a>
</form>
