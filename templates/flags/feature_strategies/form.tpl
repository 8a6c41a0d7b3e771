% rebase("layout.tpl", title=title, live=False)
<h1>{{heading}} <span class="tag">{{flag_environment.environment}}</span></h1>
% if release:
<p class="problem">Release {{release["id"]}} moves this percentage. <a href="{{url(path)}}">Hold the release</a> to edit it.</p>
% end
<form method="post" action="{{action}}" id="editor">
% include("partials/problems.tpl")
% include("partials/csrf.tpl")
<input type="hidden" name="version" value="{{stored_version}}">
<button class="hidden" tabindex="-1" aria-hidden="true" data-swap="editor">Save</button>
% include("flags/feature_strategies/fields.tpl")
<p class="actions save">
<button data-swap="editor">Save strategy</button>
<button class="quiet" name="do" value="evaluate" formtarget="_blank">Evaluate<span class="hidden"> this draft (opens a new tab)</span></button>
<a href="{{url(path)}}">Cancel</a>
</p>
</form>
