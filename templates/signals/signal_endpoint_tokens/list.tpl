% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
% include("partials/problems.tpl")
<p class="hint">{{len(table.rows)}} of {{limit}} tokens. Give each sender its own token to tell their signals apart.</p>
% if table.rows:
% include("partials/table.tpl")
% end
% if not limit_text:
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'tokens')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<button>Create token</button>
</form>
<p><a href="{{url('/admin/signals', endpoint['id'], 'tokens', 'new')}}">Create a token with a signature, an expiry or addresses</a></p>
% else:
<p>{{limit_text}}</p>
% end
