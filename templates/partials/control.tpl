% is_invalid = bool(field.find_errors(problems))
<{{field.element}} id="{{field.element_id}}" name="{{field.name}}" aria-describedby="{{field.describe(problems)}}" aria-invalid="{{"true" if is_invalid else "false"}}" {{"required" if field.is_required else ""}}\\
% for name, value in field.html_attributes.items():
 {{name}}="{{value}}"\\
% end
>\\
% if field.type == "select":

% for value, text in field.choices:
<option value="{{value}}" {{"selected" if value == field.value else ""}}>{{text}}</option>
% end
</select>
% elif field.type == "textarea":

{{field.value}}</textarea>
% else:

% end
