% rebase("layout.tpl", title=title, live=False)
<h1>{{title.removeprefix("Problem: ")}}</h1>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
% if parameters:
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% end
% include("partials/form_fields.tpl")
% if parameters:
% include("partials/growing_section.tpl", section=parameters)
% end
<p class="actions save">
<button>Save type</button>
<a href="{{url(cancel_path)}}">Cancel</a>
</p>
</form>
