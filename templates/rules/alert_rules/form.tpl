% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{"Alert rule " + row["name"] if row else "New alert rule"}}</bdi></h1>
% if row:
<a href="{{url('/admin/signals', row['endpoint_id'], 'log')}}">View signals</a>
% end
</div>
% if row:
<p><span class="tag {{badge[1]}}">{{badge[0]}}</span>
% if row["enabled"]:
% include("partials/time.tpl", at=row["since"], time_form="for")
<bdi>{{row["reason"]}}</bdi>
% end
</p>
% if row["last_error"] and row["last_error"] != row["reason"]:
<p class="hint"><bdi>{{row["last_error"]}}</bdi></p>
% end
% end
<div class="columns">
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="shown_kind" value="{{kind.value}}">
% if not has_endpoints:
<p class="problem">No signal endpoint yet. <a href="{{url('/admin/signals/new')}}">Create signal endpoint</a></p>
% end
<div id="source">
<div class="actions">
% include("partials/form_field.tpl", field=kind)
<button class="quiet without-script" id="change-source" name="do" value="source" formaction="{{action}}#source" formnovalidate data-swap="editor">Change</button>
</div>
% if is_query and not has_sources:
<p class="hint">No metric source yet. <a href="{{url('/admin/integrations/metrics/new')}}">Create metric source</a></p>
% end
<div class="fields">
% include("partials/form_fields.tpl")
</div>
<datalist id="metrics">
% for metric in names:
<option value="{{metric['name']}}">{{metric["type"]}}</option>
% end
</datalist>
</div>
<p class="actions save">
<button>Save alert rule</button>
<button class="quiet" name="do" value="preview" formaction="{{action}}#preview" formnovalidate data-swap="editor preview">Preview</button>
<a href="{{url('/admin/alert-rules')}}">Cancel</a>
</p>
</form>
% include("rules/alert_rules/preview.tpl")
</div>
% if row:
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/alert-rules', row['id'], 'delete')}}">Delete this alert rule …</a></p>
</section>
% end
