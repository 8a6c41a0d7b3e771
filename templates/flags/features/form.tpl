% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/features')}}">Flags</a></p>
<h1>New flag</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/features/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="name", label="Name", value=values["name"], required=True, hint="Letters, digits and - . _ ~, such as new-checkout. The application asks by this name; it never changes.")
% include("partials/select.tpl", name="project", label="Project", value=values["project"], choices=[(p["id"], p["name"]) for p in projects])
% include("flags/features/types.tpl", chosen=values["type"])
% include("partials/textarea.tpl", name="description", label="Description", value=values["description"], hint="Optional: what is behind the flag, and when it can go.")
% include("partials/textarea.tpl", name="tags", label="Tags", value=values["tags"], rows=2, hint="Optional: to find flags by. One type:value on each line, such as simple:checkout.")
% include("partials/check.tpl", name="impression_data", label="Impression data: SDKs tell the application each time that it asks", checked=values["impression_data"])
<button>Create flag</button>
</form>
