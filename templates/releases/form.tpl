% rebase("layout.tpl", title=title, live=False)
<h1>{{heading}} <span class="tag">{{flag_environment.environment}}</span></h1>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Start</button>
% include("partials/form_field.tpl", field=strategy)
<p class="hint">A user who got the feature keeps it in later steps.</p>
<p class="hint" id="patterns">Start from:</p>
<div class="tags">
% for name, percentages, description in patterns:
<button class="quiet" name="do" value="use-steps:{{name}}" formaction="{{action}}#steps" formnovalidate data-swap="editor" title="{{description}}"><bdi>{{name}}</bdi>: {{percentages}}</button>
% end
</div>
<div class="step-rows">
% include("partials/growing_section.tpl", section=steps)
</div>
<div class="guard-rows">
% include("partials/growing_section.tpl", section=guards)
</div>
% include("partials/form_fields.tpl", fields=no_data)
<fieldset>
<legend>Start</legend>
<div class="fields">
% include("partials/form_fields.tpl", fields=start)
</div>
<fieldset id="window">
<legend>Only steps on</legend>
<p class="hint">Outside these hours it waits, and guards watch. Empty = at any time.</p>
<div class="tags days">
% include("partials/form_fields.tpl", fields=days)
</div>
<div class="fields">
% include("partials/form_fields.tpl", fields=hours)
</div>
</fieldset>
</fieldset>
<p class="actions save">
<button>Start release</button>
<button class="quiet" name="do" value="preview" formaction="{{action}}#preview" data-swap="editor preview">Preview</button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
% include("releases/preview.tpl")
