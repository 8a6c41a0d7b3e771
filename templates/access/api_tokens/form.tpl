% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/api-tokens')}}">API tokens</a></p>
<h1>New API token</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/api-tokens/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="tokenName", label="Name", value=values["tokenName"], required=True, hint="Who uses it, such as web-shop-backend.")
% include("partials/select.tpl", name="type", label="Type", value=values["type"], choices=types, hint="An admin token opens everything; environment and projects don't count for it.")
% include("partials/select.tpl", name="environment", label="Environment", value=values["environment"], choices=[(name, name) for name in choices["environments"]])
% wrong = [problem["message"] for problem in problems if problem.get("path") == "projects"]
<fieldset id="projects" tabindex="-1">
<legend>Projects</legend>
% if wrong:
<p class="wrong" id="projects-problem">{{" ".join(wrong)}}</p>
% end
<div class="check"><input type="radio" id="scope-all" name="scope" value="all" {{"checked" if values["scope"] == "all" else ""}}><label for="scope-all">All, also those to come</label></div>
<div class="check"><input type="radio" id="scope-some" name="scope" value="some" {{"" if values["scope"] == "all" else "checked"}}><label for="scope-some">Only these:</label></div>
% for project in choices["projects"]:
<div class="check"><input type="checkbox" id="project-{{project}}" name="project:{{project}}" value="on" {{"checked" if project in values["projects"] else ""}}><label for="project-{{project}}">{{project}}</label></div>
% end
</fieldset>
% include("partials/field.tpl", name="expiresAt", label="Expires on", value=values["expiresAt"], kind="date", hint="At the beginning of that day (UTC); empty: never.")
<button>Create API token</button>
</form>
