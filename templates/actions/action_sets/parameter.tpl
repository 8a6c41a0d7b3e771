% offered = parameter.get("options", [])
% if parameter["type"] == "number":
% include("partials/field.tpl", label=parameter["label"], kind="number", min=0, step=1)
% elif len(offered) > 100:
% include("partials/field.tpl", label=parameter["label"], list=name + ".all", hint="One of %d: begin to write." % len(offered))
<datalist id="{{name}}.all">
% for choice in offered:
<option value="{{choice}}"></option>
% end
</datalist>
% else:
% texts = [(choice, set_names.get(choice, choice) if parameter["name"] == "actionSet" else choice) for choice in offered]
% texts += [(value, value + " (gone)")] * bool(value and value not in offered)
% include("partials/select.tpl", label=parameter["label"], choices=[("", "choose …"), *texts], hint="" if offered else "The project has nothing to choose from yet.")
% end
