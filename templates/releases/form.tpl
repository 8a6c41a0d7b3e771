% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1><bdi>{{heading}}</bdi></h1>
<span class="muted">today: {{present}}% of users</span>
</div>
<form method="post" action="{{action}}" id="editor" class="release-form">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Start</button>
<div class="steps">
% include("partials/form_fields.tpl", fields=steps)
% for name in patterns:
<button class="quiet" name="do" value="use-steps:{{name}}" formaction="{{action}}#steps" formnovalidate data-swap="editor">{{name.capitalize()}}</button>
% end
</div>
% if summary:
<p class="hint">{{summary}}</p>
% end
<fieldset id="proposed">
<legend>Guards</legend>
<p class="hint">It holds or rolls back when one breaks.
% if not proposals:
None is known for this flag yet: add one under More.
% end
</p>
% for number, guard in enumerate(proposals):
% include("releases/proposal.tpl", number=number, guard=guard)
% end
</fieldset>
% if turn_on:
<div class="waits">
% include("partials/form_fields.tpl", fields=turn_on)
<p class="answer waits"><span aria-hidden="true">▲</span> The flag is off: without this, nobody gets it.</p>
</div>
% end
% include("partials/form_fields.tpl", fields=when)
<div class="fields at">
% include("partials/form_fields.tpl", fields=start)
</div>
% include("partials/form_fields.tpl", fields=reason)
<p class="actions save">
<button>Start release</button>
<button class="quiet" name="do" value="preview" formaction="{{action}}#proposed" data-swap="editor">Preview</button>
<a href="{{url(path)}}">Cancel</a>
</p>
<details {{"open" if is_open else ""}}>
<summary>More</summary>
% for number, guard in enumerate(other_proposals, len(proposals)):
% include("releases/proposal.tpl", number=number, guard=guard)
% end
<div class="guard-rows">
% include("partials/growing_section.tpl", section=guards)
</div>
% include("partials/form_field.tpl", field=strategy)
% include("partials/form_fields.tpl", fields=more)
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
</details>
</form>
