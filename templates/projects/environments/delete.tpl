% rebase("layout.tpl", title=title, live=False)
<h1>Delete the environment {{environment["name"]}}?</h1>
% include("partials/problems.tpl")
% if environment["protected"]:
<p>Built-in environments can't be deleted.</p>
% elif environment["api_token_count"]:
<p>Can't delete: {{plural(environment["api_token_count"], "API token")}} {{"uses" if environment["api_token_count"] == 1 else "use"}} it. <a href="{{url('/admin/api-tokens')}}">View API tokens</a></p>
% else:
<p>This permanently deletes:</p>
<ul>
<li>the state of all flags in it: {{plural(environment["enabled_toggle_count"], "flag")}} {{"is" if environment["enabled_toggle_count"] == 1 else "are"}} enabled</li>
<li>all strategies of flags in it</li>
<li>the environment in {{plural(environment["project_count"], "project")}}</li>
</ul>
<p>To hide it without losing data, disable it instead.</p>
<form method="post" action="{{url('/admin/environments', environment['name'], 'delete')}}" class="actions">
% include("partials/csrf.tpl")
<button class="danger">Delete environment</button>
<a href="{{url('/admin/environments')}}">Cancel</a>
</form>
% end
