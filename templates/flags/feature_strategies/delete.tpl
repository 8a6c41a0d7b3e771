% rebase("layout.tpl", title=title, live=False)
<h1>Remove strategy {{number}} of {{place.feature}} in {{place.environment}}?</h1>
<p><bdi>{{words}}</bdi></p>
% if is_last:
<p>It is the last one in use there, so the flag is switched off in {{place.environment}}.</p>
% end
<form method="post" action="{{action}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Remove strategy</button>
<a href="{{url(path)}}">Cancel</a>
</form>
