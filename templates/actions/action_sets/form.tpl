% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
% if row:
<a class="button quiet" href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}">What it did</a>
<a class="button quiet" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Try it</a>
% end
</div>
<form method="post" action="{{action}}" id="editor" class="protect">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save now</button>
<input type="hidden" name="recipe" value="{{texts.get("recipe", "")}}">
<input type="hidden" name="shown_trigger" value="{{trigger.value}}">
% include("actions/action_sets/trigger.tpl")
% include("actions/action_sets/actions.tpl")
% if not schedule:
% include("actions/action_sets/preview.tpl")
% end
<p class="actions save">
<button>{{"Save" if row else "Protect"}}</button>
% if not schedule:
<button class="quiet" id="preview-button" name="do" value="preview" formaction="{{action}}#preview" formnovalidate data-swap="preview">Preview</button>
% end
<a href="{{url('/admin/automation')}}">Cancel</a>
</p>
<details id="more" {{"open" if has_options or problems else ""}}>
<summary>More</summary>
<div class="fields" id="general">
% include("partials/form_fields.tpl", fields=general)
</div>
% include("partials/form_field.tpl", field=actor)
% include("partials/form_field.tpl", field=trigger)
<button class="quiet without-script" id="change-trigger" name="do" value="trigger" formaction="{{action}}#when" formnovalidate data-swap="editor">Change</button>
<div id="options">
% include("partials/form_fields.tpl", fields=option_checkboxes)
<div class="fields">
% include("partials/form_fields.tpl", fields=[*option_numbers, *revert_after])
</div>
</div>
% if resolved:
<fieldset id="resolved">
<legend>What resolves an alert</legend>
<p class="hint">Empty = what the sender's template says. Several correlation fields are separated by commas.</p>
<div class="fields">
% include("partials/form_fields.tpl", fields=resolved)
</div>
</fieldset>
% end
</details>
</form>
