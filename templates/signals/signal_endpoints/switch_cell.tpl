% include("partials/switch.tpl", place=("/admin/signals", row["id"]), is_on=row["enabled"], name="Endpoint " + row["name"], words=("on", "off"))
