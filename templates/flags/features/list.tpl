% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Flags</h1>
% if can_edit:
<a class="button" href="{{url('/admin/features/new')}}">New flag</a>
% end
</div>
% if is_empty:
<section class="empty">
<h2>No feature flags yet</h2>
<p>Turn features on or off at runtime – per environment, user or percentage – without deploying.</p>
% if can_edit:
<p><a class="button" href="{{url('/admin/features/new')}}">Create flag</a></p>
% else:
<p>Ask an editor to create one.</p>
% end
</section>
% else:
<form method="get" class="inline" role="search">
% for field in fields:
% include("partials/filter_field.tpl", field=field)
% end
<button class="quiet">Filter</button>
% if is_filtered:
<a href="?">Clear filters</a>
% end
</form>
% if not features:
<p class="empty">No flags match your filters.</p>
% end
% end
% if features:
<p class="hint">{{count or plural(total, "flag")}}</p>
% if has_switches:
<form method="post">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{here}}">
% end
<ul class="rows flags">
% for feature in features:
<li id="flag-{{feature['name']}}">
<div class="about">
<a href="{{url(feature['path'])}}"><strong>{{feature["name"]}}</strong></a>
<span class="badge">{{feature["type"]}}</span>
% if feature["stale"]:
<span class="badge">stale</span>
% end
% for tag in feature["tags"]:
<span class="badge"><bdi>{{tag["type"]}}:{{tag["value"]}}</bdi></span>
% end
% if feature["preview"]:
<span class="preview">{{feature["preview"]}}</span>
% end
<span class="muted">{{feature["project"]}} · \\
% if feature["last_seen_at"]:
Last evaluated \\
% include("partials/time.tpl", at=feature["last_seen_at"])
% else:
Never evaluated
% end
</span>
</div>
% if feature["archived"]:
<span class="badge">archived</span>
% else:
% include("flags/features/switches.tpl", feature=feature)
% end
</li>
% end
</ul>
% if has_switches:
</form>
% end
% end
% if not is_archive:
<p><a href="?life=archived">Archived flags</a></p>
% end
% if previous or next:
<nav class="pager" aria-label="Pages">
% if previous:
<a href="?{{previous}}" rel="prev">← Previous</a>
% end
% if next:
<a href="?{{next}}" rel="next">Next →</a>
% end
</nav>
% end
