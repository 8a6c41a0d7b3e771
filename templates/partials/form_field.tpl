% errors = field.find_errors(problems)
% if field.type == "checkbox":
<div class="check">
<input type="checkbox" id="{{field.element_id}}" name="{{field.name}}" {{"checked" if field.value else ""}}\\
% for name, value in field.html_attributes.items():
 {{name}}="{{value}}"\\
% end
>
<label for="{{field.element_id}}">{{field.label}}</label>
% if field.hint:
<span class="hint" id="{{field.element_id}}-hint">{{field.hint}}</span>
% end
</div>
% else:
<div class="field">
<label for="{{field.element_id}}">{{field.label}}</label>
% if field.hint:
<p class="hint" id="{{field.element_id}}-hint">{{field.hint}}</p>
% end
% if errors:
<p class="wrong" id="{{field.element_id}}-problem">{{errors}}</p>
% end
<{{field.element}} id="{{field.element_id}}" name="{{field.name}}" aria-describedby="{{field.describe(problems)}}" aria-invalid="{{"true" if errors else "false"}}" {{"required" if field.is_required else ""}}\\
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
</div>
% end
