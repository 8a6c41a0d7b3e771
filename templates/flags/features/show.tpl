% rebase("layout.tpl", title=title, live=False)
% name = row["name"]
% here = "/admin/features/" + name
<p><a href="{{url('/admin/features')}}">Flags</a></p>
<h1>{{name}}</h1>
% include("partials/problems.tpl")
% if row["archived_at"]:
<p class="problem">This flag is archived: applications don't get it any more.</p>
% if identity.has_permission("EDIT"):
<form method="post" action="{{url(here + '/revive')}}" class="actions">
% include("partials/csrf.tpl")
<button>Revive</button>
<a href="{{url(here + '/delete')}}">Delete for good …</a>
</form>
% end
% end
% if row["description"]:
<p class="text">{{row["description"]}}</p>
% end
<dl>
<div><dt>Project</dt><dd>{{row["project"]}}</dd></div>
<div><dt>Type</dt><dd>{{next((t["name"] for t in types if t["id"] == row["type"]), row["type"])}}</dd></div>
% if row["stale"]:
<div><dt>State</dt><dd>stale: it has done its work and can go</dd></div>
% end
<div><dt>Impression data</dt><dd>{{"yes" if row["impression_data"] else "no"}}</dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=row["created_at"])
by <bdi>{{row["created_by"]}}</bdi></dd></div>
<div><dt>Last seen</dt><dd>
% if row["last_seen_at"]:
% include("partials/time.tpl", at=row["last_seen_at"])
% else:
not yet
% end
</dd></div>
</dl>
<h2>Environments</h2>
% for environment in environments:
% include("flags/features/environment.tpl", environment=environment)
% end
% if not environments:
<p class="empty">The project has no environment that is on.</p>
% end
% include("flags/features/tags.tpl")
% include("flags/features/parent.tpl")
<section id="events">
<h2>Latest changes</h2>
<ul class="rows">
% for event in events:
<li>
% include("partials/time.tpl", at=event["created_at"])
<span class="badge">{{event["type"]}}</span>
% if event["environment"]:
<span>in {{event["environment"]}}</span>
% end
<span>by <bdi>{{event["created_by"]}}</bdi></span>
% if event["run"] and identity.has_permission("ADMIN"):
<a href="{{url('/admin/projects/%s/actions/%d/runs/%d' % (event['project'], event['run']['actionSetId'], event['run']['id']))}}">run {{event["run"]["id"]}} of <bdi>{{event["run"]["actionSet"]}}</bdi></a>
% elif event["run"]:
<span>run {{event["run"]["id"]}} of <bdi>{{event["run"]["actionSet"]}}</bdi></span>
% end
</li>
% end
</ul>
% if identity.has_permission("ADMIN"):
<p><a href="{{url('/admin/events?feature=' + name)}}">All events of this flag</a></p>
% end
</section>
% if may_edit:
<section>
<h2>Change this flag</h2>
<details {{"open" if what == "Edit" else ""}}>
<summary>Edit description and type</summary>
<form method="post" action="{{url(here + '/edit')}}">
% include("partials/csrf.tpl")
% include("flags/features/types.tpl", chosen=values["metadata"].type)
% include("partials/textarea.tpl", name="description", label="Description", value=values["metadata"].description or "")
% include("partials/check.tpl", name="impression_data", label="Impression data: SDKs tell the application each time that it asks", checked=values["metadata"].impression_data)
% include("partials/check.tpl", name="stale", label="Stale: it has done its work and can go", checked=values["metadata"].stale)
<button>Save flag</button>
</form>
</details>
<details {{"open" if what == "Clone" else ""}}>
<summary>Clone</summary>
<form method="post" action="{{url(here + '/clone')}}">
% include("partials/csrf.tpl")
% include("partials/field.tpl", name="clone_name", label="Name of the clone", value=values["clone_name"], required=True, hint="It gets the strategies of this flag and is off everywhere.")
<button class="quiet">Clone flag</button>
</form>
</details>
<p class="actions"><a href="{{url(here + '/archive')}}">Archive this flag …</a></p>
</section>
% end
