% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/environments')}}">Environments</a></p>
<h1>New environment</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/environments/new')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="name", label="Name", value=values["name"], required=True, hint="Letters, digits, - . _ and ~. API tokens name the environment by it; it never changes.")
% wrong = [problem["message"] for problem in problems if problem.get("path") == "type"]
<div class="field">
<label for="type">Type</label>
% if wrong:
<p class="wrong" id="type-problem">{{" ".join(wrong)}}</p>
% end
<select id="type" name="type" aria-describedby="{{"type-problem" if wrong else ""}}" aria-invalid="{{"true" if wrong else "false"}}">
% for type in types:
<option value="{{type}}" {{"selected" if type == values["type"] else ""}}>{{type}}</option>
% end
</select>
</div>
<button>Create environment</button>
</form>
