% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals', endpoint['id'])}}">{{endpoint["name"]}}</a></p>
<h1>Token <bdi>{{token["name"]}}</bdi></h1>
<p>{{kind_label}}</p>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens', token['id'])}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=fields)
<button>Save</button>
</form>
