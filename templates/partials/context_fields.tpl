<datalist id="context-fields">
% for row in values:
<option value="{{row["name"]}}"></option>
% end
</datalist>
