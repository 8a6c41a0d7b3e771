% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Context and types</h1>
% if identity.has_permission("EDIT"):
<a class="button" href="{{url('/admin/context/new')}}">New context field</a>
% end
</div>
<p class="hint">What strategies and segments may ask about whoever asks for a flag.</p>
<h2>Context fields</h2>
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
<span class="muted">one of {{", ".join(field["values"][:10])}}{{", …" if len(field["values"]) > 10 else ""}}</span>
% end
<span class="muted">{{plural(field["feature_count"], "flag")}}</span>
% if identity.has_permission("EDIT"):
<a href="{{url('/admin/context/%s/edit' % field['name'])}}">Edit<span class="hidden"> {{field["name"]}}</span></a>
% if not field["built_in"]:
<a href="{{url('/admin/context/%s/delete' % field['name'])}}">Delete<span class="hidden"> {{field["name"]}}</span></a>
% end
% end
</li>
% end
</ul>
% for kind, rows in types.items():
<h2>{{kind}}</h2>
<ul class="rows">
% for name, description, badge in rows:
<li><strong>{{name}}</strong>
% if badge:
<span class="badge">{{badge}}</span>
% end
<span>{{description or ""}}</span></li>
% end
</ul>
% end
