% rebase("layout.tpl", title=title, live=is_live and not can_edit)  # a reload loses what was typed
<div class="heading">
<h1>{{row["name"]}}</h1>
% if not row["archived_at"]:
<form method="post" action="{{url(path, 'favorite', 'remove') if feature['favorite'] else url(path, 'favorite')}}" class="inline">
% include("partials/csrf.tpl")
<button class="quiet" aria-pressed="{{'true' if feature['favorite'] else 'false'}}">{{"★" if feature["favorite"] else "☆"}} Favorite</button>
</form>
% end
</div>
% include("partials/problems.tpl")
% if row["archived_at"]:
<p class="problem">Archived. SDKs no longer receive this flag.</p>
% if identity.has_permission("EDIT"):
<form method="post" action="{{url(path, 'revive')}}" class="actions">
% include("partials/csrf.tpl")
<button>Revive</button>
<a href="{{url(path, 'delete')}}">Delete permanently…</a>
</form>
% end
% end
% if row["description"]:
<p class="text">{{row["description"]}}</p>
% end
<div class="columns">
<div id="environments">
<h2 class="hidden">Environments</h2>
% if usage_fields:
<form method="get" action="{{url(flag_path(row['name']))}}" class="inline filter">
% for field in usage_fields:
% include("partials/filter_field.tpl", field=field)
% end
<button class="quiet">Show</button>
</form>
% end
% for environment in environments:
% include("flags/features/environment.tpl", environment=environment)
% end
% if not environments:
<p class="empty">No active environments in this project.\\
% if can_edit:
 <a href="{{url('/admin/projects', row['project'], 'edit')}}">Project settings →</a>\\
% end
</p>
% end
</div>
<div class="side">
<dl>
<div><dt>Project</dt><dd><a href="{{url('/admin/projects', row['project'], 'overview')}}">{{row["project"]}}</a></dd></div>
<div><dt>Type</dt><dd>{{type_name}}</dd></div>
% if row["stale"]:
<div><dt>Lifecycle</dt><dd>Stale: ready to be removed from code</dd></div>
% end
<div><dt>Impression data</dt><dd>{{"yes" if row["impression_data"] else "no"}}</dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=row["created_at"])
by <bdi>{{name_actor(row["created_by"], row["created_by_user_id"])}}</bdi></dd></div>
<div><dt>Last evaluated</dt><dd>
% if row["last_seen_at"]:
% include("partials/time.tpl", at=row["last_seen_at"])
% else:
never
% end
</dd></div>
</dl>
% include("flags/features/tags.tpl")
% include("flags/features/parent.tpl")
<section id="events">
<h2>Recent changes</h2>
<ul class="rows">
% for event in events:
<li>
% include("partials/time.tpl", at=event["created_at"])
% include("system/events/sentence.tpl", event=event)
% include("system/events/origin.tpl", event=event)
</li>
% end
</ul>
<p><a href="{{url('/admin/events?feature=' + row['name'])}}">View full audit log</a></p>
</section>
% if can_edit:
<section>
<h2>Settings</h2>
<details {{"open" if open_form == "Edit" else ""}}>
<summary>Edit details</summary>
<form method="post" action="{{url(path, 'edit')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=edit_fields)
<button>Save flag</button>
</form>
</details>
<details {{"open" if open_form == "Clone" else ""}}>
<summary>Clone</summary>
<form method="post" action="{{url(path, 'clone')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=clone_fields)
<button class="quiet">Clone flag</button>
</form>
</details>
<p class="actions"><a href="{{url(path, 'archive')}}">Archive flag…</a></p>
</section>
% end
</div>
</div>
