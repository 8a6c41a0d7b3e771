% rebase("layout.tpl", title=title, live=False)
<h1>Token {{token["name"]}} created</h1>
<p class="notice">Copy this token now. You won't be able to see it again.</p>
<div class="field">
<label for="secret">Token</label>
<span class="copy">
<textarea id="secret" rows="2" readonly>{{secret}}</textarea>
<button type="button" class="quiet" data-copy="secret" aria-label="Copy token" hidden>Copy</button>
</span>
</div>
% if sender:
<h2>Configure {{sender.title}}</h2>
<p>{{sender.endpoint.credentials}}</p>
<p class="text">{{setup}}</p>
% end
<h2>Send a signal</h2>
<pre><code id="curl">curl -X POST '{{call_url}}' \
  -H 'Authorization: Bearer {{secret}}' \
  -H 'Content-Type: application/json' \
  -d '{"type": "test", "data": {"message": "hello"}}'</code></pre>
<p class="actions">
<button type="button" class="quiet" data-copy="curl" hidden>Copy command</button>
<a class="button" href="{{url('/admin/signals', endpoint['id'], 'log')}}">View signals</a>
<a href="{{url('/admin/signals', endpoint['id'])}}">Back to {{endpoint["name"]}}</a>
</p>
