% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/environments')}}">Environments</a></p>
<h1>New environment</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/environments/new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<button>Create environment</button>
</form>
