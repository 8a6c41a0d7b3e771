% kind = parameter.get("type", "string")
% label, hint = parameter["name"], parameter.get("description") or ""
% if parameter["name"] == "stickiness":
% choices = [("default", "default: userId, else sessionId, else chance"), ("random", "random: anew for each request"), *[(s, s) for s in stickiness]]
% choices += [(value, value)] * bool(value and value not in dict(choices))
% include("partials/select.tpl", label="Stickiness", value=value, choices=choices, hint="What decides who belongs to the share: with userId a user always gets the same answer.")
% elif parameter["name"] == "groupId":
% include("partials/field.tpl", label="Group id", value=value, hint="Flags with one group let the same users in. Usually the flag's name.")
% elif kind == "percentage":
% include("partials/field.tpl", label="Share in per cent", value=value, kind="number", min=0, max=100, step=1, hint="From 0 (nobody) to 100 (everybody).")
% elif kind == "list":
% words = {"userIds": "User ids", "IPs": "Addresses", "hostNames": "Host names"}
% include("partials/textarea.tpl", label=words.get(label, label), value=value, rows=4, hint=(hint + " One on each line.").strip())
% elif kind == "boolean":
% include("partials/select.tpl", label=label, value=value, choices=[("", "not set"), ("true", "true"), ("false", "false")], hint=hint)
% else:
% include("partials/field.tpl", label=label, value=value, hint=hint, kind="text")
% end
