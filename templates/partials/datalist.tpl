<datalist id="{{id}}">
% for choice in choices:
<option value="{{choice}}"></option>
% end
</datalist>
