% rebase("layout.tpl", title=title, live=False)
<h1>Default strategy <span class="tag">{{environment}}</span></h1>
<p class="hint">A flag of this project that has no strategy gets this one when it is enabled in {{environment}}.</p>
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<button class="hidden" tabindex="-1" aria-hidden="true">Save</button>
% include("flags/feature_strategies/fields.tpl")
<p class="actions save">
<button>Save default strategy</button>
<a href="{{url(cancel_path)}}">Cancel</a>
</p>
</form>
