<fieldset id="do" class="sentence">
<legend>Then</legend>
% errors = find_errors(problems, "actions")
<div id="actions">
% if errors:
<p class="wrong">{{errors}}</p>
% end
% for number, row in enumerate(actions):
<fieldset id="actions.{{number}}">
<legend>Action {{number + 1}}</legend>
<input type="hidden" name="actions.{{number}}.shown" value="{{row.kind.value}}">
% include("partials/form_field.tpl", field=row.kind)
<button class="quiet without-script" id="change-actions.{{number}}" name="do" value="kind" formaction="{{action}}#actions.{{number}}" formnovalidate data-swap="editor">Change action<span class="hidden"> {{number + 1}}</span></button>
<div class="fields">
% include("partials/form_fields.tpl", fields=row.parameters)
</div>
% for id, choices in row.suggestions.items():
% include("partials/datalist.tpl", id=id, choices=choices)
% end
<p class="actions">
% if number:
<button class="quiet" name="do" value="up-actions.{{number}}" formaction="{{action}}#actions" formnovalidate data-swap="editor">Move up<span class="hidden"> action {{number + 1}}</span></button>
% end
<button class="quiet" name="do" value="remove-actions.{{number}}" formaction="{{action}}#actions" formnovalidate data-swap="editor">Remove<span class="hidden"> action {{number + 1}}</span></button>
</p>
</fieldset>
% end
% if len(actions) < max_actions:
<p class="actions"><button class="quiet" name="do" value="add-actions" formaction="{{action}}#actions.{{len(actions)}}" formnovalidate data-swap="editor">Add action</button></p>
% end
</div>
<div class="actions">
% include("partials/form_field.tpl", field=actor)
</div>
<details id="new-account" {{"" if has_accounts and not find_errors(problems, "new_account") else "open"}}>
<summary>New service account</summary>
% include("partials/form_fields.tpl", fields=account_fields)
<p class="actions"><button class="quiet" name="do" value="create-account" formaction="{{action}}#do" formnovalidate data-swap="editor">Create service account</button></p>
</details>
</fieldset>
