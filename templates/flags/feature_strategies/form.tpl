% rebase("layout.tpl", title=title, live=False)
<h1>{{heading}} <span class="badge">{{flag_environment.environment}}</span></h1>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="shown_type" value="{{type.value}}">
<div class="actions">
% include("partials/form_field.tpl", field=type)
<button class="quiet" id="change-type" name="do" value="type" formaction="{{action}}" formnovalidate data-swap="editor">Change type</button>
</div>
% if parameters:
<fieldset>
<legend>{{parameters_legend}}</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=parameters)
</div>
</fieldset>
% end
% include("partials/constraints.tpl")
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
<p class="actions save">
<button>Save strategy</button>
<button class="quiet" name="do" value="evaluate" formtarget="_blank">Evaluate<span class="hidden"> this draft (opens a new tab)</span></button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
