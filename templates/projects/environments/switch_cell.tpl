% include("partials/switch.tpl", place=("/admin/environments", row["name"]), is_on=row["enabled"], name="Environment " + row["name"], words=("Enabled", "Disabled"))
