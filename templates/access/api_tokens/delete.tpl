% rebase("layout.tpl", title=title, live=False)
<h1>Delete API token <bdi>{{token["token_name"]}}</bdi>?</h1>
<p>Whoever comes with this token (<code>{{token["secret_prefix"]}}…</code>) is refused from the next request on. This can't be undone.</p>
<form method="post" action="{{url('/admin/api-tokens/%d/delete' % token['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete API token</button>
<a href="{{url('/admin/api-tokens')}}">Cancel</a>
</form>
