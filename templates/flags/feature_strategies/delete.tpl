% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
<p><bdi>{{summary}}</bdi></p>
% if is_last:
<p>This is the last active strategy; the flag will be disabled in {{flag_environment.environment}}.</p>
% end
<form method="post" action="{{action}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Remove strategy</button>
<a href="{{url(path)}}">Cancel</a>
</form>
