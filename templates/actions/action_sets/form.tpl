% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
% if row:
<a href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}">History</a>
<a class="button" href="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">Test</a>
% end
</div>
% if not has_accounts:
<p class="problem">An action set runs as a service account. <a href="#new-account">Create one below.</a></p>
% end
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
<input type="hidden" name="recipe" value="{{texts.get("recipe", "")}}">
% if not row and not schedule:
<fieldset id="templates">
<legend>Template</legend>
<p class="hint">Fills in the filters and options for alerts of a sender, or for an endpoint that has become silent.</p>
<div class="tags">
% for tile in tiles:
<button class="quiet" name="do" value="template:{{tile['name']}}" formaction="{{action}}" formnovalidate data-swap="editor" aria-pressed="{{'true' if tile['is_selected'] else 'false'}}">{{tile["title"]}}</button>
% end
</div>
</fieldset>
% end
% if sender:
<section class="empty">
<h2>Setup: {{sender.title}}</h2>
<pre tabindex="0"><code id="setup">{{setup}}</code></pre>
<p><button type="button" class="quiet needs-script" data-copy="setup">Copy setup</button></p>
</section>
% end
<div class="fields" id="general">
% include("partials/form_fields.tpl", fields=general)
</div>
% include("actions/action_sets/trigger.tpl")
% include("actions/action_sets/actions.tpl")
<fieldset id="undo" class="sentence">
<legend>And undo it</legend>
% if resolved:
<fieldset id="resolved">
<legend>Revert when resolved</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=resolved)
</div>
<p class="hint">A signal whose status field has a resolved value reverts the changes of the runs with the same correlation field (several fields: separated by commas). Empty = never.</p>
</fieldset>
% end
% include("partials/form_fields.tpl", fields=revert_after)
</fieldset>
<details {{"open" if has_options or problems else ""}}>
<summary>Options</summary>
<fieldset id="options">
<legend>Options</legend>
% include("partials/form_fields.tpl", fields=option_checkboxes)
<div class="fields">
% include("partials/form_fields.tpl", fields=option_numbers)
</div>
</fieldset>
</details>
% if not schedule:
% include("actions/action_sets/preview.tpl")
% end
<p class="actions save">
<button>Save action set</button>
% if not schedule:
<button class="quiet" id="preview-button" name="do" value="preview" formaction="{{action}}#preview" formnovalidate data-swap="preview">Preview</button>
% end
<a href="{{url('/admin/projects', project, 'actions')}}">Cancel</a>
</p>
</form>
% if row:
<section class="card" id="test">
<h2>Test</h2>
<form method="post" action="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}" data-swap="result">
% include("partials/csrf.tpl")
<p class="hint">Dry run of the saved action set{{"" if schedule else " with its newest signal"}}. Nothing changes and no one is notified.</p>
<button class="quiet">{{"Run test" if schedule else "Run test with the newest signal"}}</button>
</form>
<section id="result"></section>
</section>
% end
