% rebase("layout.tpl", title=title, live=False)
<h1>Delete token <bdi>{{token["name"]}}</bdi>?</h1>
<p>Senders that use this token (<code>{{token["secret_prefix"]}}…</code>) for <strong>{{endpoint["name"]}}</strong> will get 401. Existing signals are kept. This can't be undone.</p>
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete token</button>
<a href="{{url('/admin/signals', endpoint['id'])}}">Cancel</a>
</form>
