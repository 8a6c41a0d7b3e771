% rebase("layout.tpl", title=title, live=False)
<h1>Delete service account <bdi>{{account["username"]}}</bdi>?</h1>
<p>Deletes the account and {{plural(len(tokens), "token")}}. Applications using them lose access immediately. This can't be undone.</p>
<form method="post" action="{{url('/admin/service-accounts', account['id'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete service account</button>
<a href="{{url('/admin/service-accounts', account['id'])}}">Cancel</a>
</form>
