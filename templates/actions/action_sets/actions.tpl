<fieldset id="do">
<legend>Then turn</legend>
% errors = find_errors(problems, "actions")
% if errors:
<p class="wrong">{{errors}}</p>
% end
<div id="actions">
% for number, item in enumerate(actions):
<div class="protect-line" id="actions.{{number}}">
<input type="hidden" name="actions.{{number}}.shown" value="{{item.kind.value}}">
% for field in (*item.parameters[1:], item.kind, *item.parameters[:1]):
<span><label for="{{field.element_id}}">{{field.label}}</label>
% include("partials/control.tpl", field=field)
% if field.hint:
<span class="hint" id="{{field.element_id}}-hint">{{field.hint}}</span>
% end
% if field.find_errors(problems):
<span class="wrong" id="{{field.element_id}}-problem">{{field.find_errors(problems)}}</span>
% end
</span>
% end
<button class="quiet without-script" id="change-actions.{{number}}" name="do" value="kind" formaction="{{action}}#actions.{{number}}" formnovalidate data-swap="editor">Change<span class="hidden"> action {{number + 1}}</span></button>
% for id, choices in item.suggestions.items():
% include("partials/datalist.tpl", id=id, choices=choices)
% end
% if number:
<button class="quiet" name="do" value="up-actions.{{number}}" formaction="{{action}}#actions" formnovalidate data-swap="editor" title="Move up"><span aria-hidden="true">↑</span><span class="hidden">Move up action {{number + 1}}</span></button>
% end
% if len(actions) > 1:
<button class="quiet" name="do" value="remove-actions.{{number}}" formaction="{{action}}#actions" formnovalidate data-swap="editor" title="Remove"><span aria-hidden="true">✕</span><span class="hidden">Remove action {{number + 1}}</span></button>
% end
</div>
% end
</div>
<div class="protect-line">
% if len(actions) < max_actions:
<button class="quiet" name="do" value="add-actions" formaction="{{action}}#actions.{{len(actions)}}" formnovalidate data-swap="editor">+ another</button>
% end
% include("partials/form_fields.tpl", fields=back)
</div>
</fieldset>
