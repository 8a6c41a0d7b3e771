% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/segments')}}">Segments</a></p>
<h1><bdi>{{heading}}</bdi></h1>
% include("partials/problems.tpl")
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% include("partials/field.tpl", name="name", label="Name", value=values["name"], required=True, hint="Such as beta testers.")
% include("partials/textarea.tpl", name="description", label="Description", value=values["description"], rows=2, hint="Optional: who is meant.")
% include("partials/select.tpl", name="project", label="For flags of", value=values["project"], choices=projects)
% include("partials/constraints.tpl", constraints_hint="Who belongs to the segment.")
<p class="actions">
<button>Save segment</button>
<a href="{{url('/admin/segments')}}">Cancel</a>
</p>
</form>
