% rebase("layout.tpl", title=title, live=False)
<h1>Applications</h1>
<p class="hint">{{plural(total, "application")}}{{" found" if query else ""}}. An application is here once its SDK has registered or sent metrics; its instances are forgotten two days after they were seen last.</p>
<form method="get" class="inline">
<label for="query">Name</label>
<input id="query" name="query" type="search" value="{{query}}">
<button class="quiet">Search</button>
</form>
% if not applications:
<p class="empty">{{"No application has this in its name." if query else "No application has reported yet."}}</p>
% else:
<ul class="rows">
% for application in applications:
<li>
<a href="?{{application['address']}}"><bdi>{{application["app_name"]}}</bdi></a>
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
% if more or first is not None:
<nav class="pager" aria-label="Pages">
% if first is not None:
<a href="?{{first}}">First</a>
% end
% if more:
<a href="?{{more}}" rel="next">Next</a>
% end
</nav>
% end
