<fieldset id="{{section.name}}.{{number}}">
<legend>{{section.item.capitalize()}} {{number + 1}}{{" · " + row.title if row.title else ""}}</legend>
% errors = find_errors(problems, section.name + "." + str(number))
% if errors:
<p class="wrong">{{errors}}</p>
% end
<div class="fields">
% include("partials/form_fields.tpl", fields=row.fields)
</div>
% include("partials/form_fields.tpl", fields=row.checkboxes)
% for inner in row.sections:
% include("partials/growing_section.tpl", section=inner)
% end
<p class="actions"><button class="quiet" name="do" value="remove-{{section.name}}.{{number}}" formaction="{{action}}#{{section.name}}" formnovalidate data-swap="editor">Remove<span class="hidden"> {{section.item}} {{number + 1}}</span></button></p>
</fieldset>
