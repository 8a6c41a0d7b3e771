% rebase("layout.tpl", title=title, live=False)
<h1>New signal endpoint</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals/new')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<div class="field">
<label for="{{call_url.element_id}}">{{call_url.label}}</label>
% include("partials/copy_field.tpl", field=call_url)
</div>
% include("partials/form_fields.tpl", fields=token_fields)
<button>Create signal endpoint</button>
</form>
