<fieldset id="options">
<legend>Options</legend>
% include("partials/form_fields.tpl", fields=option_checkboxes)
<div class="fields">
% include("partials/form_fields.tpl", fields=option_numbers)
</div>
% if resolved:
<fieldset id="resolved">
<legend>Revert when resolved</legend>
<p class="hint">Optional. A signal that resolves the alert reverts the changes of its runs.</p>
<div class="fields">
% include("partials/form_fields.tpl", fields=resolved)
</div>
</fieldset>
% end
</fieldset>
