% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/segments')}}">Segments</a></p>
<h1><bdi>{{heading}}</bdi></h1>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% include("partials/form_fields.tpl")
% include("partials/constraints.tpl")
<p class="actions">
<button>Save segment</button>
<a href="{{url('/admin/segments')}}">Cancel</a>
</p>
</form>
