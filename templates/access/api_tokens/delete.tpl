% rebase("layout.tpl", title=title, live=False)
<h1>Delete API token <bdi>{{token["token_name"]}}</bdi>?</h1>
<p>Applications using this token (<code>{{token["secret_prefix"]}}…</code>) lose access immediately. This can't be undone.</p>
<form method="post" action="{{url('/admin/api-tokens', token['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete API token</button>
<a href="{{url('/admin/api-tokens')}}">Cancel</a>
</form>
