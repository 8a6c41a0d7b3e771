% include("partials/growing_section.tpl", section=constraints)
<datalist id="context-fields">
% for row in context_fields:
<option value="{{row["name"]}}"></option>
% end
</datalist>
