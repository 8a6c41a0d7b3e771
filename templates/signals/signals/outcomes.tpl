% if evaluation.is_waiting:
<p class="muted">Processing …</p>
% end
% if evaluation.outcomes:
<ul class="checks">
% for one in evaluation.outcomes:
% at = "/admin/projects/%s/actions/%s" % (one.project, one.set_id)
<li>
% if one.project and one.exists:
<a href="{{url(at)}}"><bdi>{{one.name}}</bdi><span class="hidden"> in {{one.project}}</span></a>:
% else:
<bdi>{{one.name}}</bdi>:
% end
<strong class="result {{'yes' if one.state == 'success' else 'no' if one.state == 'failed' else ''}}">{{one.label}}</strong>
% if one.run_id:
<a href="{{url('%s/runs/%d' % (at, one.run_id))}}">Run {{one.run_id}}</a>
% end
% if one.reason:
<span class="muted"><bdi>{{one.reason}}</bdi></span>
% end
</li>
% end
</ul>
% end
