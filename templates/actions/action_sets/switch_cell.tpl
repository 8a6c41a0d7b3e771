% if not row["can_change"]:
{{"● on" if row["enabled"] else "○ off"}}
% else:
% include("partials/switch.tpl", place=("/admin/projects", row["project"], "actions", row["id"]), is_on=row["enabled"], name=row["name"] + " in " + row["project"], words=("on", "off"))
% end
% if row["has_run_once"]:
<span class="tag waits">‖ has run once</span>
% if row["can_change"]:
<form method="post" action="{{url('/admin/projects', row['project'], 'actions', row['id'], 'arm')}}">
% include("partials/csrf.tpl")
<button class="quiet">Let it act again<span class="hidden">: {{row["name"]}} in {{row["project"]}}</span></button>
</form>
% end
% end
