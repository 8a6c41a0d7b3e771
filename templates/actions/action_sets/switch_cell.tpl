% include("partials/switch.tpl", place=("/admin/projects", row["project"], "actions", row["id"]), is_on=row["enabled"], name="Action set " + row["name"] + " in " + row["project"], words=("on", "off"))
% if row["has_run_once"]:
<form method="post" action="{{url('/admin/projects', row['project'], 'actions', row['id'], 'arm')}}">
% include("partials/csrf.tpl")
<span class="tag broken">Has run once</span>
<button class="quiet">Re-enable<span class="hidden"> {{row["name"]}} in {{row["project"]}}</span></button>
</form>
% end
