% errors = field.find_errors(problems)
% if field.type == "hidden":
<input type="hidden" id="{{field.element_id}}" name="{{field.name}}" value="{{field.value}}">
% elif field.type == "checkbox":
<div class="check">
% include("partials/control.tpl", field=field)
<label for="{{field.element_id}}">{{field.label}}</label>
% if field.hint:
<span class="hint" id="{{field.element_id}}-hint">{{field.hint}}</span>
% end
% if errors:
<p class="wrong" id="{{field.element_id}}-problem">{{errors}}</p>
% end
</div>
% elif field.type == "radio":
<fieldset id="{{field.element_id}}">
<legend>{{field.label}}</legend>
% if errors:
<p class="wrong" id="{{field.element_id}}-problem">{{errors}}</p>
% end
% for value, text in field.choices:
<div class="check">
<input type="radio" id="{{field.element_id}}-{{value}}" name="{{field.name}}" value="{{value}}" aria-describedby="{{field.element_id}}-{{value}}-hint" {{"checked" if value == field.value else ""}}>
<label for="{{field.element_id}}-{{value}}">{{text}}</label>
<span class="hint" id="{{field.element_id}}-{{value}}-hint">{{field.choice_hints.get(value, "")}}</span>
</div>
% end
</fieldset>
% else:
<div class="field">
<label for="{{field.element_id}}">{{field.label}}</label>
% if field.hint:
<p class="hint" id="{{field.element_id}}-hint">{{field.hint}}</p>
% end
% if errors:
<p class="wrong" id="{{field.element_id}}-problem">{{errors}}</p>
% end
% include("partials/control.tpl", field=field)
% if field.is_percentage:
<input type="range" min="0" max="100" step="1" value="{{field.value}}" data-slider="{{field.element_id}}" aria-hidden="true" tabindex="-1" class="needs-script">
% end
</div>
% end
