% rebase("layout.tpl", title=title, live=False)
<h1>Delete the environment {{environment["name"]}}?</h1>
% include("partials/problems.tpl")
% if environment["protected"]:
<p>This environment is built in and stays.</p>
% elif environment["api_token_count"]:
<p>Not yet: {{plural(environment["api_token_count"], "API token")}} {{"is" if environment["api_token_count"] == 1 else "are"}} for it. Delete them first.</p>
% else:
<p>This goes with it, for good:</p>
<ul>
<li>what is on or off in it: {{plural(environment["enabled_toggle_count"], "flag")}} {{"is" if environment["enabled_toggle_count"] == 1 else "are"}} on;</li>
<li>all strategies of flags in it;</li>
<li>its place in {{plural(environment["project_count"], "project")}}.</li>
</ul>
<p>To hide it and keep what there is, switch it off instead.</p>
<form method="post" action="{{url('/admin/environments/%s/delete' % environment['name'])}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete environment</button>
<a href="{{url('/admin/environments')}}">Cancel</a>
</form>
% end
