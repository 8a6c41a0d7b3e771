<fieldset id="{{section.name}}.{{number}}">
<legend>{{section.item.capitalize()}} {{number + 1}}</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=row.fields)
</div>
% include("partials/form_fields.tpl", fields=row.checkboxes)
<p class="actions"><button class="quiet" name="do" value="remove-{{section.name}}.{{number}}" formaction="{{action}}#{{section.name}}" formnovalidate data-swap="editor">Remove<span class="hidden"> {{section.item}} {{number + 1}}</span></button></p>
</fieldset>
