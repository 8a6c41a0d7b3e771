% rebase("layout.tpl", title=title, live=False)
<h1>{{title}}</h1>
% if grace_ends_at:
<p>The previous secret is valid until {{readable(grace_ends_at)}}.
</p>
% end
% if secret:
<p class="notice">Copy this {{"secret" if instructions else "token"}} now. You won't be able to see it again.</p>
<div class="field">
<label for="secret">{{"Secret" if instructions else "Token"}}</label>
<span class="copy">
<textarea id="secret" rows="2" readonly>{{secret}}</textarea>
<button type="button" class="quiet needs-script" data-copy="secret" aria-label="Copy {{"secret" if instructions else "token"}}">Copy</button>
</span>
</div>
% end
% if instructions:
<h2>Configure the sender</h2>
<p>{{instructions}}</p>
<div class="field">
<label for="call-url">URL</label>
<span class="copy">
<textarea id="call-url" rows="2" readonly>{{call_url}}</textarea>
<button type="button" class="quiet needs-script" data-copy="call-url" aria-label="Copy URL">Copy</button>
</span>
</div>
% end
% if sender:
<h2>Configure {{sender.title}}</h2>
<p>{{sender.credentials}}</p>
<pre tabindex="0"><code id="setup">{{setup}}</code></pre>
<p><button type="button" class="quiet needs-script" data-copy="setup">Copy setup</button></p>
% end
% if not instructions:
<h2>Send a signal</h2>
<pre tabindex="0"><code id="curl">curl -X POST '{{call_url}}' \
  -H 'Authorization: Bearer {{secret}}' \
  -H 'Content-Type: application/json' \
  -d '{"type": "test", "data": {"message": "hello"}}'</code></pre>
% end
<p class="actions">
% if not instructions:
<button type="button" class="quiet needs-script" data-copy="curl">Copy command</button>
% end
<a class="button" href="{{url('/admin/signals', endpoint['id'], 'log')}}">View signals</a>
<a href="{{url('/admin/signals', endpoint['id'])}}">Back to {{endpoint["name"]}}</a>
</p>
