% errors = find_errors(problems, section.name)
<fieldset id="{{section.name}}">
<legend>{{section.legend}}</legend>
<p class="hint">{{section.hint}}</p>
% if errors:
<p class="wrong">{{errors}}</p>
% end
% for number, row in enumerate(section.rows):
% if row.summary:
<details class="row" {{"open" if row.has_errors(problems) else ""}}>
<summary><bdi>{{row.summary}}</bdi>
% for chip in row.chips:
<bdi class="tag">{{chip}}</bdi>
% end
</summary>
% include("partials/growing_row.tpl", section=section, number=number, row=row)
</details>
% else:
% include("partials/growing_row.tpl", section=section, number=number, row=row)
% end
% end
% if section.template:
% include(section.template, values=section.values)
% end
% include("partials/form_fields.tpl", fields=section.fields)
% if section.can_grow:
<p class="actions"><button class="quiet" name="do" value="add-{{section.name}}" formaction="{{action}}#{{section.name}}.{{len(section.rows)}}" formnovalidate data-swap="editor">Add {{section.item}}</button></p>
% end
</fieldset>
