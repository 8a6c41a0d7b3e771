% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/features')}}">Flags</a></p>
<h1>New flag</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/features/new')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<button>Create flag</button>
</form>
