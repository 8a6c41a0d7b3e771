% rebase("layout.tpl", title=title, live=False)
<h1>Types</h1>
<section id="flag-types">
<h2>Flag types</h2>
<p class="hint">A flag that is older than the lifetime of its type counts as stale.</p>
<ul class="rows">
% for type in feature_types:
<li>
<strong>{{type["name"]}}</strong>
<span>{{type["description"] or ""}}</span>
<span class="muted">{{plural(type["lifetime_days"], "day") if type["lifetime_days"] else "permanent"}}</span>
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/types/flags', type['id'], 'edit')}}">Edit<span class="hidden"> flag type {{type["id"]}}</span></a>
% end
</li>
% end
</ul>
</section>
<section id="strategy-types">
<div class="heading">
<h2>Strategy types</h2>
% if identity.has_permission("EDIT"):
<a class="button quiet" href="{{url('/admin/types/strategies/new')}}">New strategy type</a>
% end
</div>
<ul class="rows">
% for type in strategy_types:
<li>
<strong><bdi>{{type["title"] or type["name"]}}</bdi></strong>
<code>{{type["name"]}}</code>
% if type["deprecated"]:
<span class="badge">deprecated</span>
% end
<span>{{type["description"] or ""}}</span>
% if identity.has_permission("EDIT"):
% if not type["built_in"]:
<a href="{{url('/admin/types/strategies', type['name'], 'edit')}}">Edit<span class="hidden"> strategy type {{type["name"]}}</span></a>
<a href="{{url('/admin/types/strategies', type['name'], 'delete')}}">Delete<span class="hidden"> strategy type {{type["name"]}}</span></a>
% end
% if type["name"] != "default":
<form method="post" action="{{url('/admin/types/strategies', type['name'], 'on' if type['deprecated'] else 'off')}}">
% include("partials/csrf.tpl")
<button class="quiet">{{"Reactivate" if type["deprecated"] else "Deprecate"}}<span class="hidden"> {{type["name"]}}</span></button>
</form>
% end
% end
</li>
% end
</ul>
</section>
<section id="tag-types">
<div class="heading">
<h2>Tag types</h2>
% if identity.has_permission("EDIT"):
<a class="button quiet" href="{{url('/admin/types/tags/new')}}">New tag type</a>
% end
</div>
<ul class="rows">
% for type in tag_types:
<li>
<strong>{{type["name"]}}</strong>
<span>{{type["description"] or ""}}</span>
% if identity.has_permission("EDIT"):
<a href="{{url('/admin/types/tags', type['name'], 'edit')}}">Edit<span class="hidden"> tag type {{type["name"]}}</span></a>
% if type["name"] != "simple":
<a href="{{url('/admin/types/tags', type['name'], 'delete')}}">Delete<span class="hidden"> tag type {{type["name"]}}</span></a>
% end
% end
</li>
% end
</ul>
</section>
