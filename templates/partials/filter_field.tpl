<span><label for="{{field.element_id}}">{{field.label}}</label>
% include("partials/control.tpl", field=field)
% if field.find_errors(problems):
<span class="wrong" id="{{field.element_id}}-problem">{{field.find_errors(problems)}}</span>
% end
</span>
