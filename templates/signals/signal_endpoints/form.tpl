% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals')}}">Signal endpoints</a></p>
% if endpoint:
<div class="heading">
<h1>{{endpoint["name"]}}</h1>
<a href="{{url('/admin/signals', endpoint['id'], 'send')}}">Send a test signal</a>
<a class="button" href="{{url('/admin/signals', endpoint['id'], 'log')}}">View signals</a>
</div>
% else:
<h1>New signal endpoint</h1>
% end
% include("partials/problems.tpl")
<form method="post" action="{{url('/admin/signals', endpoint['id'] if endpoint else 'new')}}">
% include("partials/csrf.tpl")
% for field in fields:
% include("partials/form_field.tpl", field=field)
% end
<div class="field">
<label for="call-url">URL that senders call</label>
% include("partials/copy.tpl", id="call-url", value=call_url, label="URL that senders call")
</div>
% if not endpoint:
<fieldset>
<legend>Token</legend>
<p class="hint">A sender needs a token. It is shown once, right after it was made.</p>
<div class="check"><input type="radio" id="token-now" name="token" value="now" {{"checked" if values["token"] == "now" else ""}}><label for="token-now">Create one now</label></div>
% include("partials/form_field.tpl", field=token_name)
<div class="check"><input type="radio" id="token-later" name="token" value="later" {{"" if values["token"] == "now" else "checked"}}><label for="token-later">Later</label></div>
</fieldset>
% end
<button>{{"Save" if endpoint else "Create signal endpoint"}}</button>
</form>
% if endpoint:
% include("signals/signal_endpoint_tokens/list.tpl")
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/signals', endpoint['id'], 'delete')}}">Delete this signal endpoint …</a></p>
</section>
% end
