% rebase("layout.tpl", title=title, live=False)
% include("signals/signal_endpoints/heading.tpl")
% if grace_ends_at:
<p>The previous secret ends
% include("partials/time.tpl", at=grace_ends_at)
</p>
% end
% if secret:
<div class="field">
<label for="secret">{{"Secret" if instructions else "Token"}}</label>
<p class="hint">Copy it now. You won't be able to see it again.</p>
<span class="copy">
<textarea id="secret" rows="2" readonly>{{secret}}</textarea>
<button type="button" class="quiet needs-script" data-copy="secret" aria-label="Copy {{"secret" if instructions else "token"}}">Copy</button>
</span>
</div>
% end
% if instructions:
<p>{{instructions}}</p>
% end
% include("partials/copy_field.tpl", field=call_url)
<section>
<h2>Configure {{sender.title}}</h2>
<p>{{sender.credentials}}
% if scheme:
<a href="{{url('/admin/signals', endpoint['id'], 'tokens', 'new')}}?kind={{scheme}}">Create signature token</a>
% elif not has_tokens:
This endpoint has no token yet. <a href="{{url('/admin/signals', endpoint['id'], 'tokens')}}">Create token</a>
% elif has_placeholder:
Replace SIGNAL_TOKEN with a <a href="{{url('/admin/signals', endpoint['id'], 'tokens')}}">token</a>.
% end
</p>
<pre tabindex="0"><code id="setup">{{setup}}</code></pre>
<p class="actions">
<button type="button" class="quiet needs-script" data-copy="setup">Copy setup</button>
<a href="{{url(guide_path)}}">Guide: {{sender.title}}</a>
% if not endpoint["template"]:
<a href="{{url('/admin/signals', endpoint['id'], 'settings')}}">Choose another sender</a>
% end
</p>
</section>
<section>
<h2>Send a sample</h2>
<p class="hint">Stores a signal like those of {{sender.title}}. Action sets that match will run.</p>
% if triggered_sets:
<p>Action sets triggered by this endpoint:</p>
% include("actions/action_sets/triggered_sets.tpl")
% end
<div class="actions">
% for name, label in samples:
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'samples', name)}}">
% include("partials/csrf.tpl")
<button>{{label}}<span class="hidden"> sample</span></button>
</form>
% end
<a href="{{url('/admin/signals', endpoint['id'], 'send')}}">Send another payload</a>
</div>
% if not scheme and not instructions:
<details {{"open" if secret else ""}}>
<summary>With curl</summary>
<pre tabindex="0"><code id="curl">{{command}}</code></pre>
<p><button type="button" class="quiet needs-script" data-copy="curl">Copy command</button></p>
</details>
% end
</section>
