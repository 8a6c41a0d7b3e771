% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{project["name"]}}</bdi></h1>
% if identity.has_permission("EDIT"):
<a class="button" href="{{url('/admin/features/new')}}?project={{project['id']}}">Create flag</a>
<a class="button quiet" href="{{url('/admin/projects', project['id'], 'edit')}}">Settings</a>
% end
</div>
% if project["description"]:
<p class="text">{{project["description"]}}</p>
% end
<dl class="numbers">
<div><dt>Flags</dt><dd><a href="{{url('/admin/features')}}?project={{project['id']}}">{{plural(counts["features"], "flag")}}</a></dd></div>
<div><dt>Ready to be removed</dt><dd><a href="{{url('/admin/features')}}?project={{project['id']}}&amp;state=remove">See them</a></dd></div>
<div><dt>Segments</dt><dd>{{number(counts["segments"])}}</dd></div>
<div><dt>Releases</dt><dd><a href="{{url('/admin/releases')}}?project={{project['id']}}">{{release_counts["running"] + release_counts["held"]}} under way{{", " + str(release_counts["held"]) + " on hold" if release_counts["held"] else ""}}</a></dd></div>
<div><dt>Members</dt><dd>\\
% if identity.has_permission("ADMIN"):
<a href="{{url('/admin/users')}}">{{plural(project["member_count"], "user")}}</a>\\
% else:
{{plural(project["member_count"], "user")}}\\
% end
</dd></div>
</dl>
<div class="columns">
<div>
<section id="environments">
<h2>Environments</h2>
% if not environments:
<p class="empty">No active environments in this project.</p>
% else:
<ul class="rows">
% for environment in environments:
<li>
<a href="{{url('/admin/features')}}?project={{project['id']}}">{{environment["name"]}}</a>
% if environment["type"] != environment["name"]:
<span class="tag">{{environment["type"]}}</span>
% end
<span class="muted">{{plural(environment["enabled_toggle_count"], "flag")}} enabled</span>
</li>
% end
</ul>
% end
</section>
% if releases:
% include("releases/rows.tpl", heading="Releases", more_path="/admin/releases?project=" + project["id"], more_label="All releases of " + project["name"], is_live=True)
% end
% include("actions/scheduled/list.tpl", scheduled=scheduled)
% if identity.has_permission("ADMIN"):
<section id="action-sets">
<h2>Action sets</h2>
% if not action_sets:
<p class="empty">No action sets yet.</p>
% else:
<ul class="rows">
% for row in action_sets:
<li>
<a href="{{url('/admin/projects', project['id'], 'actions', row['id'])}}"><bdi>{{row["name"]}}</bdi></a>
<span class="muted">{{"enabled" if row["enabled"] else "disabled"}}</span>
</li>
% end
</ul>
% end
<p><a href="{{url('/admin/automation')}}?project={{project['id']}}">Automation of this project</a></p>
</section>
<section id="tokens">
<h2>API tokens</h2>
% if not tokens:
<p class="empty">No API tokens for this project only.</p>
% else:
<ul class="rows">
% for token in tokens:
<li><bdi>{{token["token_name"]}}</bdi> <span class="tag">{{token["type"]}}</span> <span class="muted">{{token["environment"]}}</span></li>
% end
</ul>
% end
<p><a href="{{url('/admin/api-tokens')}}">API tokens</a></p>
</section>
% end
</div>
<div class="side">
<section id="transfer">
<h2>Move flags</h2>
<p class="actions"><a href="{{url('/admin/projects', project['id'], 'export')}}">Export flags</a>
% if identity.has_permission("EDIT"):
<a href="{{url('/admin/projects', project['id'], 'import')}}">Import flags</a>
% end
</p>
</section>
<section id="changes">
<h2>Recent changes</h2>
% include("system/events/recent.tpl", changes=changes)
% if identity.has_permission("ADMIN"):
<p><a href="{{url('/admin/events')}}?project={{project['id']}}">View full audit log</a></p>
% end
</section>
</div>
</div>
