% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Environments</h1>
% if identity.has_permission("ADMIN") and len(environments) < limit:
<a class="button" href="{{url('/admin/environments/new')}}">New environment</a>
% end
</div>
<p class="hint">Flags are configured per environment. Disabling one hides it from the UI; SDKs keep working.</p>
<ol class="cards">
% for environment in environments:
<li class="card">
<div class="heading">
<h2>{{environment["name"]}} <span class="badge">{{environment["type"]}}</span></h2>
% if identity.has_permission("ADMIN"):
<form method="post" action="{{url('/admin/environments', environment['name'], 'off' if environment['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if environment['enabled'] else 'false'}}" aria-label="Environment {{environment['name']}}">{{"Enabled" if environment["enabled"] else "Disabled"}}</button>
</form>
% else:
<span class="badge">{{"Enabled" if environment["enabled"] else "Disabled"}}</span>
% end
</div>
% if environment["name"] == "default":
<p class="hint">Used by what names no environment: tokens for all environments, requests without a token, and the legacy API. If you need none of them, disable it.</p>
% end
<dl>
<div><dt>Projects</dt><dd>{{environment["project_count"]}}</dd></div>
<div><dt>Enabled flags</dt><dd>{{environment["enabled_toggle_count"]}}</dd></div>
<div><dt>API tokens</dt><dd>{{environment["api_token_count"]}}</dd></div>
</dl>
% if identity.has_permission("ADMIN"):
<div class="actions">
<form method="post" action="{{url('/admin/environments', environment['name'], 'move')}}">
% include("partials/csrf.tpl")
% for step in environment["moves"]:
<button class="quiet" name="to" value="{{step}}">Move {{step}}<span class="hidden"> {{environment["name"]}}</span></button>
% end
</form>
% if not environment["protected"]:
<a href="{{url('/admin/environments', environment['name'], 'delete')}}">Delete<span class="hidden"> {{environment["name"]}}</span></a>
% end
</div>
% end
</li>
% end
</ol>
