% rebase("layout.tpl", title=title, live=False)
<h1>New token of <bdi>{{endpoint["name"]}}</bdi></h1>
% include("partials/problems.tpl")
% if fields:
<p>{{kind_label}}. <a href="{{url('/admin/signals', endpoint['id'], 'tokens', 'new')}}">Choose another type</a></p>
<form method="post" action="{{action}}">
% include("partials/csrf.tpl")
% if is_signature:
<input type="hidden" name="signature.scheme" value="{{kind.value}}">
% end
% include("partials/form_fields.tpl", fields=fields)
<button>Create token</button>
</form>
% else:
<form method="get" action="{{url('/admin/signals', endpoint['id'], 'tokens', 'new')}}">
% include("partials/form_field.tpl", field=kind)
<button>Continue</button>
</form>
<p class="hint">A bearer token fits senders that can send a header or a password. Choose a signature for senders that sign what they send.</p>
% end
