% rebase("layout.tpl", title=title, live=False)
<h1>Sign-in</h1>
% if problems is not None:
% if problems:
<div class="problem" role="alert"><p>The provider has problems:</p><ul>
% for problem in problems:
<li>{{problem}}</li>
% end
</ul></div>
% else:
<p class="notice" role="status">The provider has no problems.</p>
% end
% end
% if rows:
<p class="hint">Environment variables set this. To change it, change them and restart the service.
<a href="{{url('/docs/guide/single-sign-on')}}">Single sign-on</a></p>
<table>
<thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">Set by</th></tr></thead>
<tbody>
% for label, value, variable in rows:
<tr><th scope="row">{{label}}</th><td><bdi>{{value}}</bdi></td><td><code>{{variable}}</code></td></tr>
% end
</tbody>
</table>
<form method="post" action="{{url('/admin/sign-in/check')}}" class="actions">
% include("partials/csrf.tpl")
<button>Check</button>
<a href="{{url('/auth/oidc')}}?try={{try_token}}" target="_blank" rel="noopener">Try sign-in in a new tab</a>
</form>
% else:
<p class="empty">{{note}}</p>
<p class="hint">Users can sign in with your provider: set <code>SERVICE_OIDC_ISSUER</code> and three more variables.
<a href="{{url('/docs/guide/single-sign-on')}}">Single sign-on</a></p>
% end
