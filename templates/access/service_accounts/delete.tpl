% rebase("layout.tpl", title=title, live=False)
<h1>Delete service account <bdi>{{account["username"]}}</bdi>?</h1>
<p>Its {{plural(len(tokens), "token")}} {{"is" if len(tokens) == 1 else "are"}} refused from the next request on. This can't be undone.</p>
<form method="post" action="{{url('/admin/service-accounts/%d/delete' % account['id'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete service account</button>
<a href="{{url('/admin/service-accounts/%d' % account['id'])}}">Cancel</a>
</form>
