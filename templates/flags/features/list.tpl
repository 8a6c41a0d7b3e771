% rebase("layout.tpl", title=title, live=False)
% may_edit = identity.has_permission("EDIT")
<div class="heading">
<h1>Flags</h1>
% if may_edit:
<a class="button" href="{{url('/admin/features/new')}}">New flag</a>
% end
</div>
% if not features and not is_filtered and not offset:
<section class="empty">
<h2>No flag yet</h2>
<p>A flag is a question that your application asks while it runs: is <em>new-checkout</em> on for this user? Here you decide the answer, for each environment, for everybody or for some, and change it without a deployment.</p>
% if may_edit:
<p><a href="{{url('/admin/features/new')}}">Make the first one</a></p>
% else:
<p>An editor can make one.</p>
% end
</section>
% else:
<form method="get" class="inline" role="search">
<span><label for="query">Search</label>
<input id="query" name="query" type="search" value="{{filters['query']}}" autocomplete="off"></span>
% if len(projects) > 1 or filters["project"]:
<span><label for="project">Project</label>
<select id="project" name="project">
<option value="">all</option>
% for project in projects:
<option value="{{project['id']}}" {{"selected" if project["id"] == filters["project"] else ""}}>{{project["name"]}}</option>
% end
</select></span>
% end
<span><label for="state">State</label>
<select id="state" name="state">
% for value, text in states:
<option value="{{value}}" {{"selected" if value == filters["state"] else ""}}>{{text}}</option>
% end
</select></span>
<span><label for="type">Type</label>
<select id="type" name="type">
<option value="">all</option>
% for type in types:
<option value="{{type['id']}}" {{"selected" if type["id"] == filters["type"] else ""}}>{{type["name"]}}</option>
% end
</select></span>
<span><label for="tag">Tag</label>
<input id="tag" name="tag" value="{{filters['tag']}}" placeholder="type:value" autocomplete="off" size="14"></span>
<span><label for="life">Show</label>
<select id="life" name="life">
% for value, text in lives:
<option value="{{value}}" {{"selected" if value == filters["life"] else ""}}>{{text}}</option>
% end
</select></span>
<button class="quiet">Filter</button>
% if is_filtered:
<a href="?">Show all</a>
% end
</form>
% if not features:
<p class="empty">No flag here matches.</p>
% end
% end
% if features:
<p class="hint">{{plural(total, "flag")}}{{", %d to %d shown" % (offset + 1, offset + len(features)) if total > len(features) else ""}}</p>
% has_switches = may_edit and any(f["environments"] and not f["archived"] for f in features)
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
% if feature["description"]:
<span class="preview">{{feature["description"][:200]}}</span>
% end
<span class="muted">{{feature["project"]}}, \\
% if feature["seen"]:
last seen \\
% include("partials/time.tpl", at=feature["seen"])
% else:
not seen yet
% end
</span>
</div>
% if feature["archived"]:
<span class="badge">archived</span>
% else:
% include("flags/features/switches.tpl", feature=feature, may_edit=may_edit)
% end
</li>
% end
</ul>
% if has_switches:
</form>
% end
% end
% if filters["life"] != "archived":
<p><a href="?life=archived">Archived flags</a></p>
% end
% if previous or next:
<nav class="pager" aria-label="Pages">
% if offset:
<a href="?{{previous}}" rel="prev">Previous</a>
% end
% if next:
<a href="?{{next}}" rel="next">Next</a>
% end
</nav>
% end
