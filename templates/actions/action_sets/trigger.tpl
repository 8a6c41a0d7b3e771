<fieldset id="when" class="sentence">
<legend>When</legend>
<input type="hidden" name="shown_trigger" value="{{trigger.value}}">
% include("partials/form_field.tpl", field=trigger)
<button class="quiet without-script" id="change-trigger" name="do" value="trigger" formaction="{{action}}#when" formnovalidate data-swap="editor">Change trigger</button>
% if schedule:
<div class="fields">
% include("partials/form_fields.tpl", fields=schedule)
</div>
% else:
% include("partials/form_field.tpl", field=source)
<button class="quiet without-script" id="load-signal" name="do" value="look" formaction="{{action}}#when" formnovalidate data-swap="editor">Load latest signal</button>
% if not has_endpoints:
<p class="hint">No signal endpoint yet. <a href="{{url('/admin/signals/new')}}">Create signal endpoint</a></p>
% end
% include("partials/growing_section.tpl", section=filters)
% if payload:
<details id="last">
<summary>\\
% if latest_at:
Latest signal:
% include("partials/time.tpl", at=latest_at)
\\
% else:
Sample of the template: no signal received yet\\
% end
</summary>
<pre tabindex="0"><code>{{payload}}</code></pre>
</details>
<details id="paths">
<summary>Available fields: click one to add a filter</summary>
<dl class="paths">
% for path, text, button in paths:
<div><dt><button class="quiet" name="do" value="{{button}}" formaction="{{action}}#filters.{{len(filters.rows)}}" formnovalidate data-swap="editor"><span class="hidden">Add a filter: </span><code>{{path}}</code></button></dt><dd><bdi>{{text}}</bdi></dd></div>
% end
</dl>
</details>
% elif source.value:
<p class="hint">No signal received yet. You can add filters anyway.</p>
% end
% include("partials/datalist.tpl", id="suggested", choices=suggested)
% end
</fieldset>
