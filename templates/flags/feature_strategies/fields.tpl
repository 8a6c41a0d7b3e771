<input type="hidden" name="shown_type" value="{{type.value}}">
<div class="actions">
% include("partials/form_field.tpl", field=type)
<button class="quiet without-script" id="change-type" name="do" value="type" formaction="{{action}}" formnovalidate data-swap="editor">Change type</button>
</div>
% if parameters:
<fieldset>
<legend>{{parameters_legend}}</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=parameters)
</div>
</fieldset>
% end
% include("partials/growing_section.tpl", section=constraints)
% errors = find_errors(problems, "segments")
<fieldset id="segments">
<legend>Segments</legend>
% if errors:
<p class="wrong">{{errors}}</p>
% end
% if segments:
<p class="hint">Users must be in every selected segment (max {{max_segments}}).</p>
% else:
<p class="hint">No segments yet. A segment is a reusable set of constraints.</p>
% end
% include("partials/form_fields.tpl", fields=segments)
</fieldset>
% include("partials/growing_section.tpl", section=variants)
<fieldset>
<legend>General</legend>
% include("partials/form_fields.tpl", fields=general)
</fieldset>
