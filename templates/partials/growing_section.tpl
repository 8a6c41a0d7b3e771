% errors = find_errors(problems, section.name)
<fieldset id="{{section.name}}">
<legend>{{section.legend}}</legend>
<p class="hint">{{section.hint}}</p>
% if errors:
<p class="wrong">{{errors}}</p>
% end
% for number, row in enumerate(section.rows):
<fieldset id="{{section.name}}.{{number}}">
<legend>{{section.item.capitalize()}} {{number + 1}}</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=row.fields)
</div>
% include("partials/form_fields.tpl", fields=row.checkboxes)
<p class="actions"><button class="quiet" name="do" value="remove-{{section.name}}.{{number}}" formaction="{{action}}#{{section.name}}" formnovalidate data-swap="editor">Remove<span class="hidden"> {{section.item}} {{number + 1}}</span></button></p>
</fieldset>
% end
% include("partials/form_fields.tpl", fields=section.fields)
% if section.can_grow:
<p class="actions"><button class="quiet" name="do" value="add-{{section.name}}" formaction="{{action}}#{{section.name}}.{{len(section.rows)}}" formnovalidate data-swap="editor">Add {{section.item}}</button></p>
% end
</fieldset>
