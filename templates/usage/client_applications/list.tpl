% rebase("layout.tpl", title=title, live=False)
<h1>Applications</h1>
<p class="hint">{{plural(total, "application")}}{{" found" if search.value else ""}}. Applications appear when their SDK connects. Instances expire after 2 days.</p>
<form method="get" class="inline">
% include("partials/filter_field.tpl", field=search)
<button class="quiet">Search</button>
</form>
% if not applications:
<p class="empty">{{"No applications match." if search.value else "No applications yet."}}</p>
% else:
<ul class="rows">
% for application in applications:
<li>
<a href="?{{application['name_query']}}"><bdi>{{application["app_name"]}}</bdi></a>
<span>{{plural(application["instances"], "instance")}}</span>
% for name in application["environments"]:
<span class="badge">{{name}}</span>
% end
% for sdk in application["sdk_versions"]:
<span class="muted"><bdi>{{sdk}}</bdi></span>
% end
<span class="muted">last seen
% include("partials/time.tpl", at=application["seen_at"])
</span>
</li>
% end
</ul>
% end
% if next_query or first_query is not None:
<nav class="pager" aria-label="Pages">
% if first_query is not None:
<a href="?{{first_query}}">First</a>
% end
% if next_query:
<a href="?{{next_query}}" rel="next">Next</a>
% end
</nav>
% end
