% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/context')}}">Context fields</a></p>
<h1>{{"Context field " + context_field["name"] if context_field else "New context field"}}</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/context', context_field['name'], 'edit') if context_field else url('/admin/context/new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<button>{{"Save" if context_field else "Create context field"}}</button>
</form>
% if context_field and not context_field["built_in"]:
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/context', context_field['name'], 'delete')}}">Delete this context field …</a></p>
</section>
% end
