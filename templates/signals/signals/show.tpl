% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Signal {{signal["id"]}}</h1>
<form method="post" action="{{url('/admin/signals', endpoint['id'], 'log', signal['id'], 'replay')}}">
% include("partials/csrf.tpl")
<button class="quiet">Replay (runs actions)</button>
</form>
</div>
<dl>
% if signal["summary"].status or signal["summary"].severity:
<div><dt>Status</dt><dd>
% include("signals/signals/words.tpl", status=signal["summary"].status, severity=signal["summary"].severity)
</dd></div>
% end
% for field in signal["summary"].fields:
% if field.label:
<div><dt><bdi>{{field.label}}</bdi></dt><dd>\\
% include("signals/signals/value.tpl", text=field.text)
</dd></div>
% end
% end
<div><dt>Received</dt><dd>
% include("partials/time.tpl", at=signal["created_at"])
</dd></div>
% if signal["sent_by"]:
<div><dt>Sent by</dt><dd><bdi>{{signal["sent_by"]}}</bdi></dd></div>
% else:
<div><dt>Token</dt><dd><bdi>{{signal["token_name"] or "(deleted token)"}}</bdi></dd></div>
% end
% if signal["replay_of"]:
<div><dt>Replay of</dt><dd>\\
% if signal["has_original"]:
<a href="{{url('/admin/signals', endpoint['id'], 'log', signal['replay_of'])}}">Signal {{signal["replay_of"]}}</a></dd></div>
% else:
Signal {{signal["replay_of"]}}, which has expired</dd></div>
% end
% end
<div><dt>Size</dt><dd>{{signal["payload_bytes"]}} bytes</dd></div>
</dl>
<section>
<h2>What it did</h2>
% if evaluation.result:
<p>It {{evaluation.result}}.</p>
% elif not evaluation.is_waiting:
<p>{{"Nothing." if evaluation.outcomes else "Nothing: no automation uses this endpoint."}}</p>
% end
% include("signals/signals/outcomes.tpl", evaluation=evaluation)
% if triggered_sets:
<details {{"open" if len(triggered_sets) <= 5 else ""}}>
<summary>Test an action set with this signal</summary>
<p class="actions">
% for action_set in triggered_sets:
<a href="{{url('/admin/projects', action_set['project'], 'actions', action_set['id'], 'test')}}?signal={{signal['id']}}">Test <bdi>{{action_set["name"]}}</bdi><span class="hidden"> in {{action_set["project"]}}</span> with this signal</a>
% end
</p>
</details>
% end
</section>
<section>
<h2>Payload</h2>
% if tree.children:
<p class="hint">The magnifying glass beside a value lists the signals that have it.</p>
% include("signals/signals/tree.tpl", node=tree)
% end
<details {{"" if tree.children else "open"}}>
<summary>JSON</summary>
<pre tabindex="0"><code id="payload">{{signal["formatted"]}}</code></pre>
</details>
<p><button type="button" class="quiet needs-script" data-copy="payload">Copy JSON</button></p>
</section>
