% if row["can_edit"]:
% include("partials/switch.tpl", place=("/admin/alert-rules", row["id"]), is_on=row["enabled"], name="Alert rule " + row["name"], words=("on", "off"))
% else:
{{"on" if row["enabled"] else "off"}}
% end
