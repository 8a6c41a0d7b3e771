% errors = find_errors(problems, "notifications")
<fieldset id="notifications">
<legend>Notifications</legend>
<p class="hint">Optional. Saved secrets are masked; leave them unchanged to keep them.</p>
% if errors:
<p class="wrong">{{errors}}</p>
% end
% for number, row in enumerate(notifications):
<fieldset id="notifications.{{number}}">
<legend>Notification {{number + 1}}</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=row.fields)
</div>
% errors = find_errors(problems, "notifications." + str(number) + ".on")
<fieldset id="notifications.{{number}}.on">
<legend>Send when<span class="hidden"> (notification {{number + 1}})</span></legend>
% if errors:
<p class="wrong">{{errors}}</p>
% end
% include("partials/form_fields.tpl", fields=row.checkboxes)
</fieldset>
<p class="actions"><button class="quiet" name="do" value="remove-notifications.{{number}}" formaction="{{action}}#notifications" formnovalidate>Remove<span class="hidden"> notification {{number + 1}}</span></button></p>
</fieldset>
% end
<p class="actions"><button class="quiet" name="do" value="add-notifications" formaction="{{action}}#notifications.{{len(notifications)}}" formnovalidate>Add notification</button></p>
</fieldset>
