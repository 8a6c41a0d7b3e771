<fieldset id="undo" class="sentence">
<legend>And undo it</legend>
% if resolved:
<fieldset id="resolved">
<legend>Revert when resolved</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=resolved)
</div>
<p class="hint">A signal whose status field has a resolved value reverts the changes of the runs with the same correlation field (several fields: separated by commas). Empty = never.</p>
</fieldset>
% end
% include("partials/form_fields.tpl", fields=revert_after)
</fieldset>
