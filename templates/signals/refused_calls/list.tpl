% rebase("layout.tpl", title=title, live=False)
% if endpoint:
<p><a href="{{url('/admin/signals', endpoint['id'])}}">{{endpoint["name"]}}</a></p>
% else:
<p><a href="{{url('/admin/signals')}}">Signal endpoints</a></p>
% end
<h1>{{title}}</h1>
<p class="hint">Calls that stored no signal, counted by caller and reason. New ones appear after a few seconds.</p>
% if not calls:
<p class="empty">No calls were refused.</p>
% else:
<div class="wide">
<table>
<thead><tr><th scope="col">Last</th><th scope="col">Calls</th><th scope="col">Status</th><th scope="col">Reason</th><th scope="col">Token</th><th scope="col">From</th></tr></thead>
<tbody>
% for call in calls:
<tr>
<td>
% include("partials/time.tpl", at=call["last_at"])
</td>
<td>{{call["calls"]}}</td>
<td>{{call["status"]}}</td>
<td>
% if not endpoint and call["endpoint_name"]:
<code><bdi>{{call["endpoint_name"]}}</bdi></code>:
% end
<bdi>{{call["reason"]}}</bdi></td>
<td>
% if call["secret_prefix"]:
<code><bdi>{{call["secret_prefix"]}}</bdi>…</code>
% end
</td>
<td><bdi>{{call["address"] or "a unix socket"}}</bdi>
% if call["user_agent"]:
<span class="muted"><bdi>{{call["user_agent"]}}</bdi></span>
% end
</td>
</tr>
% end
</tbody>
</table>
</div>
% end
