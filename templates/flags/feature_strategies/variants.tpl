% wrong = [problem["message"] for problem in problems if problem.get("path") == "variants"]
<fieldset id="variants">
<legend>Variants</legend>
<p class="hint">Optional: values that the flag has for a share each of those who are let in, to compare them.</p>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for n, row in enumerate(values.variants):
% at = "variants.%d" % n
<fieldset id="{{at}}">
<legend>Variant {{n + 1}}</legend>
<div class="fields">
% include("partials/field.tpl", name=at + ".name", label="Name", value=row["name"], required=True)
% include("partials/select.tpl", name=at + ".weightType", label="Weight", value=row["weightType"], choices=[("variable", "an equal part of what is left"), ("fix", "fixed, as follows")])
% include("partials/field.tpl", name=at + ".weight", label="Fixed weight in per cent", value=row["weight"], hint="Only for a fixed weight, such as 12.5.")
% include("partials/select.tpl", name=at + ".payloadType", label="Payload", value=row["payloadType"], choices=[("", "none"), ("string", "text"), ("number", "number"), ("json", "JSON"), ("csv", "CSV")])
% include("partials/textarea.tpl", name=at + ".payload", label="Content of the payload", value=row["payload"], rows=2)
</div>
<p class="actions"><button class="quiet" name="do" value="remove-{{at}}" formaction="{{action}}#variants" formnovalidate>Remove variant {{n + 1}}</button></p>
</fieldset>
% end
% if values.variants:
% choices = [("default", "default: userId, else sessionId, else chance"), ("random", "random: anew for each request"), *[(s, s) for s in stickiness]]
% choices += [(values.variant_stickiness, values.variant_stickiness)] * (values.variant_stickiness not in dict(choices))
% include("partials/select.tpl", name="variant_stickiness", label="Stickiness of variants", value=values.variant_stickiness, choices=choices, hint="What decides who gets which variant.")
% end
<p class="actions"><button class="quiet" name="do" value="add-variants" formaction="{{action}}#variants.{{len(values.variants)}}" formnovalidate>Add a variant</button></p>
</fieldset>
