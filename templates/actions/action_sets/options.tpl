<fieldset id="options">
<legend>Options</legend>
% include("partials/form_fields.tpl", fields=option_checkboxes)
<div class="fields">
% include("partials/form_fields.tpl", fields=option_numbers)
</div>
</fieldset>
