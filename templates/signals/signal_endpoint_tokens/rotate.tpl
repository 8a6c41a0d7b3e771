% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals', endpoint['id'])}}">{{endpoint["name"]}}</a></p>
<h1>Replace the secret of <bdi>{{token["name"]}}</bdi></h1>
<p>The next page shows the new secret. Give it to the sender within the grace period. A secret that was replaced before ends now.</p>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'], 'rotate')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=fields)
<button>Replace secret</button>
</form>
