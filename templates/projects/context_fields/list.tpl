% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Context fields</h1>
% if identity.has_permission("EDIT"):
<a class="button" href="{{url('/admin/context/new')}}">New context field</a>
% end
</div>
<p class="hint">Context fields available in constraints.</p>
<ul class="rows">
% for field in fields:
<li>
<strong>{{field["name"]}}</strong>
% if field["stickiness"]:
<span class="badge">stickiness</span>
% end
% if field["description"]:
<span>{{field["description"]}}</span>
% end
% if field["values"]:
<span class="muted">Legal values: {{field["values"]}}</span>
% end
<span class="muted">{{plural(field["feature_count"], "flag")}}</span>
% if identity.has_permission("EDIT"):
<a href="{{url('/admin/context', field['name'], 'edit')}}">Edit<span class="hidden"> {{field["name"]}}</span></a>
% if not field["built_in"]:
<a href="{{url('/admin/context', field['name'], 'delete')}}">Delete<span class="hidden"> {{field["name"]}}</span></a>
% end
% end
</li>
% end
</ul>
