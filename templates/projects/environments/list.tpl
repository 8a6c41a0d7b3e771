% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Environments</h1>
% if identity.has_permission("ADMIN") and len(environments) < limit:
<a class="button" href="{{url('/admin/environments/new')}}">New environment</a>
% end
</div>
<p class="hint">Where flags are on or off, each by itself. An environment that is off is hidden where flags are shown; SDKs are answered as before.</p>
<ol class="cards">
% for environment in environments:
<li class="card">
<div class="heading">
<h2>{{environment["name"]}} <span class="badge">{{environment["type"]}}</span></h2>
% if identity.has_permission("ADMIN"):
<form method="post" action="{{url('/admin/environments/%s/%s' % (environment['name'], 'off' if environment['enabled'] else 'on'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if environment['enabled'] else 'false'}}" aria-label="Environment {{environment['name']}}">{{"on" if environment["enabled"] else "off"}}</button>
</form>
% else:
<span class="badge">{{"on" if environment["enabled"] else "off"}}</span>
% end
</div>
<dl>
<div><dt>Projects</dt><dd>{{environment["project_count"]}}</dd></div>
<div><dt>Flags that are on</dt><dd>{{environment["enabled_toggle_count"]}}</dd></div>
<div><dt>API tokens</dt><dd>{{environment["api_token_count"]}}</dd></div>
</dl>
% if identity.has_permission("ADMIN"):
<div class="actions">
% for step, moves in (("up", environment is not environments[0]), ("down", environment is not environments[-1])):
% if moves:
<form method="post" action="{{url('/admin/environments/%s/%s' % (environment['name'], step))}}">
% include("partials/csrf.tpl")
<button class="quiet" aria-label="Move {{environment['name']}} {{step}}">Move {{step}}</button>
</form>
% end
% end
% if not environment["protected"]:
<a href="{{url('/admin/environments/%s/delete' % environment['name'])}}">Delete<span class="hidden"> {{environment["name"]}}</span></a>
% end
</div>
% end
</li>
% end
</ol>
