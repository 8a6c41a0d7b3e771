% rebase("layout.tpl", title=title, live=False)
% if endpoint:
<div class="heading">
<h1>{{endpoint["name"]}}</h1>
<a href="{{url('/admin/signals', endpoint['id'], 'silence')}}">Silence</a>
<a href="{{url('/admin/signals', endpoint['id'], 'refused')}}">Refused calls</a>
<a href="{{url('/admin/signals', endpoint['id'], 'send')}}">Send a test signal</a>
<a class="button" href="{{url('/admin/signals', endpoint['id'], 'log')}}">View signals</a>
</div>
% else:
<h1>New signal endpoint</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals', endpoint['id'] if endpoint else 'new')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl")
<div class="field">
<label for="{{call_url.element_id}}">{{call_url.label}}</label>
% include("partials/copy_field.tpl", field=call_url)
</div>
% if not endpoint:
% include("partials/form_fields.tpl", fields=token_fields)
% end
% if endpoint:
% include("signals/signal_endpoints/options.tpl")
% end
<button>{{"Save" if endpoint else "Create signal endpoint"}}</button>
</form>
% if endpoint:
% include("signals/signal_endpoint_tokens/list.tpl")
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/signals', endpoint['id'], 'delete')}}">Delete signal endpoint …</a></p>
</section>
% end
