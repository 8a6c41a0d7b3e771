% rebase("layout.tpl", title=title, live=False)
<h1>Edit guards <span class="tag">{{environment}}</span></h1>
<p class="hint">A guard that you don't change keeps its result. A changed one begins again, and so does what it must watch of the step.</p>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save guards</button>
% for name, text in hidden.items():
<input type="hidden" name="{{name}}" value="{{text}}">
% end
<div class="guard-rows">
% include("partials/growing_section.tpl", section=guards)
</div>
% include("partials/form_fields.tpl", fields=reason)
<p class="actions save">
<button>Save guards</button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
