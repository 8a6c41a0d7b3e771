% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/api-tokens')}}">API tokens</a></p>
<h1>New API token</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/api-tokens/new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<fieldset id="projects" tabindex="-1">
<legend>{{scope.label}}</legend>
% if project_errors:
<p class="wrong" id="projects-problem">{{project_errors}}</p>
% end
% for value, text in scope.choices:
<div class="check"><input type="radio" id="scope-{{value}}" name="scope" value="{{value}}" {{"checked" if value == scope.value else ""}}><label for="scope-{{value}}">{{text}}</label></div>
% end
% for project in projects:
% include("partials/form_field.tpl", field=project)
% end
</fieldset>
% include("partials/form_field.tpl", field=expiry)
<button>Create API token</button>
</form>
