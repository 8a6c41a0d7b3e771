% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/context')}}">Context and types</a></p>
<h1>{{"Context field " + field["name"] if field else "New context field"}}</h1>
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/context/%s/edit' % field['name'] if field else '/admin/context/new')}}">
% include("partials/csrf.tpl")
% if not field:
% include("partials/field.tpl", name="name", label="Name", value=values["name"], required=True, hint="As SDKs send it: letters, digits, - . _ and ~.")
% end
% include("partials/field.tpl", name="description", label="Description", value=values["description"])
<div class="field check">
<input type="checkbox" id="stickiness" name="stickiness" value="on" {{"checked" if values["stickiness"] else ""}}>
<label for="stickiness">May decide who belongs to a share of users (stickiness)</label>
</div>
% wrong = [problem["message"] for problem in problems if problem.get("path") == "values"]
<div class="field">
<label for="values">Legal values</label>
<p class="hint" id="values-hint">Optional, one a line: what a form offers for this field.</p>
% if wrong:
<p class="wrong" id="values-problem">{{" ".join(wrong)}}</p>
% end
<textarea id="values" name="values" rows="6" aria-describedby="values-hint{{" values-problem" if wrong else ""}}" aria-invalid="{{"true" if wrong else "false"}}">
{{values["values"]}}</textarea>
</div>
<button>{{"Save" if field else "Create context field"}}</button>
</form>
% if field and not field["built_in"]:
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/context/%s/delete' % field['name'])}}">Delete this context field …</a></p>
</section>
% end
