% wrong = [problem["message"] for problem in problems if problem.get("path") == "constraints"]
<fieldset id="constraints">
<legend>Constraints</legend>
<p class="hint">{{constraints_hint}} All of them must hold.</p>
% if wrong:
<p class="wrong">{{" ".join(wrong)}}</p>
% end
% for n, row in enumerate(constraints):
% at = "constraints.%d" % n
<fieldset id="{{at}}">
<legend>Constraint {{n + 1}}</legend>
<div class="fields">
% include("partials/field.tpl", name=at + ".contextName", label="Context field", value=row["contextName"], list="context-fields", required=True, hint="What the application tells about who asks, such as userId or country.")
% include("partials/select.tpl", name=at + ".operator", label="Comparison", value=row["operator"], choices=operators)
% legal_values = legal.get(row["contextName"], [])
% include("partials/textarea.tpl", name=at + ".values", label="Values", value=row["values"], rows=min(10, max(2, row["values"].count("\n") + 2)), hint="One on each line. Numbers, dates, versions and patterns: just one." + (" Known ones: " + ", ".join(legal_values[:20]) + "." if legal_values else ""))
</div>
% include("partials/check.tpl", name=at + ".inverted", label="Turn it around: holds for all the others", checked=row["inverted"])
% include("partials/check.tpl", name=at + ".caseInsensitive", label="Take upper and lower case as the same (contains, starts with, ends with)", checked=row["caseInsensitive"])
<p class="actions"><button class="quiet" name="do" value="remove-{{at}}" formaction="{{action}}#constraints" formnovalidate>Remove constraint {{n + 1}}</button></p>
</fieldset>
% end
<p class="actions"><button class="quiet" name="do" value="add-constraints" formaction="{{action}}#constraints.{{len(constraints)}}" formnovalidate>Add a constraint</button></p>
<datalist id="context-fields">
% for name in context_fields:
<option value="{{name}}"></option>
% end
</datalist>
</fieldset>
