% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
