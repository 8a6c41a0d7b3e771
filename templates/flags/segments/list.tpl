% rebase("layout.tpl", title=title, live=False)
% may_edit = identity.has_permission("EDIT")
<div class="heading">
<h1>Segments</h1>
% if may_edit:
<a class="button" href="{{url('/admin/segments/new')}}">New segment</a>
% end
</div>
<p class="hint">Reusable sets of constraints. Changes apply immediately to every strategy that uses them.</p>
% if not segments:
<p class="empty">No segments yet. A segment is a reusable set of constraints, e.g. beta testers.</p>
% else:
<ul class="cards">
% for segment in segments:
<li class="card">
<h2><bdi>{{segment["name"]}}</bdi></h2>
% if segment["description"]:
<p class="text">{{segment["description"]}}</p>
% end
<p><bdi>{{segment["summary"]}}</bdi></p>
<dl>
<div><dt>Project</dt><dd>{{segment["project"] or "All"}}</dd></div>
<div><dt>Used by</dt><dd>
% if segment["first_features"]:
<ul class="names">
% for name in segment["first_features"]:
<li><a href="{{url(flag_path(name))}}">{{name}}</a></li>
% end
% if segment["used_in_features"] > len(segment["first_features"]):
<li>and {{segment["used_in_features"] - len(segment["first_features"])}} more</li>
% end
</ul>
% else:
Not used
% end
</dd></div>
</dl>
% if may_edit:
<p class="actions">
<a href="{{url('/admin/segments', segment['id'])}}">Edit<span class="hidden"> {{segment["name"]}}</span></a>
<a href="{{url('/admin/segments', segment['id'], 'delete')}}">Delete<span class="hidden"> {{segment["name"]}}</span></a>
</p>
% end
</li>
% end
</ul>
% end
