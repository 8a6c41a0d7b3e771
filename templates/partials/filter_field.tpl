<span><label for="{{field.element_id}}">{{field.label}}</label>
% include("partials/control.tpl", field=field)
</span>
