% rebase("layout.tpl", title=title, live=False)
<h1>Delete token <bdi>{{token["description"]}}</bdi>?</h1>
<p>Applications using this token (<code>{{token["secret_prefix"]}}…</code>) lose access immediately. This can't be undone.</p>
<form method="post" action="{{url(back, 'tokens', token['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete token</button>
<a href="{{url(back)}}">Cancel</a>
</form>
