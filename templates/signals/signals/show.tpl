% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/signals/%d/log' % endpoint['id'])}}">Signals: {{endpoint["name"]}}</a></p>
<div class="heading">
<h1>Signal {{signal["id"]}}</h1>
<form method="post" action="{{url('/admin/signals/%d/log/%d/replay' % (endpoint['id'], signal['id']))}}">
% include("partials/csrf.tpl")
<button class="quiet">Send again</button>
</form>
</div>
<dl>
<div><dt>Received</dt><dd>
% include("partials/time.tpl", at=signal["created_at"])
</dd></div>
% if signal["sent_by"]:
<div><dt>Sent by</dt><dd><bdi>{{signal["sent_by"]}}</bdi></dd></div>
% else:
<div><dt>Token</dt><dd><bdi>{{signal["token_name"] or "deleted token"}}</bdi></dd></div>
% end
% if signal["replay_of"]:
<div><dt>Same payload as</dt><dd><a href="{{url('/admin/signals/%d/log/%d' % (endpoint['id'], signal['replay_of']))}}">Signal {{signal["replay_of"]}}</a></dd></div>
% end
<div><dt>Size</dt><dd>{{signal["payload_bytes"]}} bytes</dd></div>
</dl>
<section>
<h2>Actions</h2>
% if not evaluation.is_waiting and not evaluation.outcomes:
<p class="muted">No action set that was on listened when it arrived.</p>
% end
% include("signals/signals/outcomes.tpl", evaluation=evaluation)
% if triggered_sets:
<p class="actions">
% for one in triggered_sets:
<a href="{{url('/admin/projects/%s/actions/%d/test?signal=%d' % (one['project'], one['id'], signal['id']))}}">Test <bdi>{{one["name"]}}</bdi><span class="hidden"> in {{one["project"]}}</span> with it</a>
% end
</p>
% end
</section>
<section>
<h2>Payload</h2>
<pre><code>{{signal["pretty"]}}</code></pre>
</section>
