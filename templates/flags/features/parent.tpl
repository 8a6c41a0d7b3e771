<section id="parent-flag">
<h2>Parent</h2>
% if parent:
<p>On only while <a href="{{url(flag_path(parent['feature']))}}">{{parent["feature"]}}</a> <bdi>{{parent_words[0]}}</bdi>.</p>
% if may_edit:
<form method="post" action="{{url(here + '/parent/remove')}}">
% include("partials/csrf.tpl")
<button class="quiet">Remove parent</button>
</form>
% end
% elif feature["children"]:
<p>This flag is the parent of:</p>
<ul class="names">
% for child in feature["children"]:
<li><a href="{{url(flag_path(child))}}">{{child}}</a></li>
% end
</ul>
% else:
<p class="muted">None: it doesn't depend on another flag.</p>
% end
% if may_edit and parents and not parent:
<details {{"open" if what == "Parent" else ""}}>
<summary>Let it depend on another flag</summary>
<form method="post" action="{{url(here + '/parent')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="parent", label="Parent", value=values["parent"], list="parents", required=True, hint="The name of a flag of this project that has no parent itself.")
<datalist id="parents">
% for candidate in parents:
<option value="{{candidate}}"></option>
% end
</datalist>
% include("partials/select.tpl", name="state", label="This flag can be on only while the parent", value=values["state"], choices=[("on", "is on"), ("off", "is off")])
% include("partials/textarea.tpl", name="parent_variants", label="With one of the variants", value=values.get("parent_variants", ""), rows=2, hint="Optional: names of the parent's variants, one on each line.")
<button class="quiet">Set parent</button>
</form>
</details>
% end
</section>
