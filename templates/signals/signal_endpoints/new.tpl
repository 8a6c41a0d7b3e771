% rebase("layout.tpl", title=title, live=False)
<h1>New signal endpoint</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals/new')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
% include("partials/copy_field.tpl", field=call_url)
% include("partials/form_fields.tpl", fields=token_fields)
<button>Create signal endpoint</button>
</form>
