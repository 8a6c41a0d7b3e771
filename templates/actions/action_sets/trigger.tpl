<fieldset id="when">
<legend>When</legend>
% if schedule:
<div class="fields">
% include("partials/form_fields.tpl", fields=schedule)
</div>
% else:
<div class="protect-line">
<label for="{{source.element_id}}">an alert arrives from <span class="hidden">Signal endpoint</span></label>
% include("partials/control.tpl", field=source)
% if source.find_errors(problems):
<span class="wrong" id="{{source.element_id}}-problem">{{source.find_errors(problems)}}</span>
% end
<button class="quiet without-script" id="load-signal" name="do" value="look" formaction="{{action}}#when" formnovalidate data-swap="editor">Look</button>
<a href="{{url('/admin/signals/new')}}">New signal endpoint</a>
<a href="{{url('/admin/alert-rules/new')}}">or a number gets worse, or nothing arrives: New alert rule</a>
</div>
% errors = find_errors(problems, "filters")
% if errors:
<p class="wrong">{{errors}}</p>
% end
<div id="filters">
% for index, item in enumerate(filters.rows):
<div class="protect-line" id="filters.{{index}}">
% for field in item.fields[:3]:
<span><label class="{{"hidden" if index else ""}}" for="{{field.element_id}}">{{field.label}}</label>
% include("partials/control.tpl", field=field)
% if field.hint:
<span class="hint" id="{{field.element_id}}-hint">{{field.hint}}</span>
% end
% if field.find_errors(problems):
<span class="wrong" id="{{field.element_id}}-problem">{{field.find_errors(problems)}}</span>
% end
</span>
% end
<button class="quiet" name="do" value="remove-filters.{{index}}" formaction="{{action}}#filters" formnovalidate data-swap="editor" title="Remove"><span aria-hidden="true">✕</span><span class="hidden">Remove filter {{index + 1}}</span></button>
<details {{"open" if item.has_errors(problems) and not item.fields[0].value else ""}}>
<summary>more<span class="hidden"> of filter {{index + 1}}</span></summary>
% include("partials/form_fields.tpl", fields=[*item.fields[3:], *item.checkboxes])
<p class="hint">{{filters.hint}}</p>
</details>
</div>
% end
</div>
<div class="protect-line">
% if arrived:
<span class="muted">from what arrived:</span>
% for name, text, count, button in arrived:
<button class="quiet" name="do" value="{{button}}" formaction="{{action}}#filters" formnovalidate data-swap="editor"><bdi>{{name}} {{text}}</bdi> {{number(count)}}×</button>
% end
% elif not has_arrived:
<span class="muted">Nothing has arrived yet. Type what the alert will have, or send a test alert.</span>
% end
% if filters.can_grow:
<button class="quiet" name="do" value="add-filters" formaction="{{action}}#filters.{{len(filters.rows)}}" formnovalidate data-swap="editor">+ and</button>
% end
</div>
% include("partials/datalist.tpl", id="suggested", choices=suggested)
% end
</fieldset>
