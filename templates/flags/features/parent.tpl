<section id="parent-flag">
<h2>Dependencies</h2>
% for dependency in dependencies:
<p>Evaluated only when <a href="{{url(flag_path(dependency['feature']))}}">{{dependency["feature"]}}</a> is <bdi>{{dependency["summary"]}}</bdi>.</p>
% if can_edit:
<form method="post" action="{{url(path, 'parent', 'remove')}}">
% include("partials/csrf.tpl")
<button class="quiet">Remove parent flag</button>
</form>
% end
% end
% if feature["children"]:
<p>Parent flag of:</p>
<ul class="names">
% for child in feature["children"]:
<li><a href="{{url(flag_path(child))}}">{{child}}</a></li>
% end
</ul>
% elif not dependencies:
<p class="muted">No parent flag</p>
% end
% if can_edit and parents and not dependencies:
<details {{"open" if open_form == "Parent" else ""}}>
<summary>Add parent flag</summary>
<form method="post" action="{{url(path, 'parent')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=parent_fields)
% include("partials/datalist.tpl", id="parents", choices=parents)
<button class="quiet">Save parent flag</button>
</form>
</details>
% end
</section>
