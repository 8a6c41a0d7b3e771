<details id="details" {{"open" if open_form else ""}}>
<summary><span class="muted">{{type_name}} · <bdi>{{project_name}}</bdi>\\
% for tag in tags:
 · <bdi>{{tag}}</bdi>\\
% end
 · \\
% if row["last_seen_at"]:
evaluated
% include("partials/time.tpl", at=row["last_seen_at"])
% else:
never evaluated\\
% end
 ·</span> Details</summary>
<div class="fields">
<div>
<dl>
<div><dt>Project</dt><dd><a href="{{url('/admin/projects', row['project'], 'overview')}}">{{project_name}}</a></dd></div>
<div><dt>Created</dt><dd>
% include("partials/time.tpl", at=row["created_at"])
by <bdi>{{name_actor(row["created_by"], row["created_by_user_id"])}}</bdi></dd></div>
<div><dt>Impression data</dt><dd>{{"yes" if row["impression_data"] else "no"}}</dd></div>
% if row["permanent"] or row["stale"]:
<div><dt>Lifecycle</dt><dd>{{"Permanent" if row["permanent"] else "Stale: ready to be removed from code"}}</dd></div>
% end
</dl>
% include("flags/features/tags.tpl")
% include("flags/features/parent.tpl")
</div>
% if can_edit:
<div>
<form method="post" action="{{url(path, 'edit')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=edit_fields)
<button class="quiet">Save flag</button>
</form>
<form method="post" action="{{url(path, 'clone')}}" id="clone">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=clone_fields)
<button class="quiet">Clone flag</button>
</form>
</div>
% end
</div>
</details>
