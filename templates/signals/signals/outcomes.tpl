% if evaluation.is_waiting:
<p class="muted">Processing …</p>
% end
% if evaluation.outcomes:
<ul class="checks">
% for outcome in evaluation.outcomes:
<li>
% if outcome.project and outcome.exists:
<a href="{{url('/admin/projects', outcome.project, 'actions', outcome.set_id)}}"><bdi>{{outcome.name}}</bdi><span class="hidden"> in {{outcome.project}}</span></a>:
% else:
<bdi>{{outcome.name}}</bdi>:
% end
<strong class="tag {{'gets' if outcome.state == 'success' else 'broken' if outcome.state == 'failed' else ''}}">{{outcome.label}}</strong>
% if outcome.run_id:
<a href="{{url('/admin/projects', outcome.project, 'actions', outcome.set_id, 'runs', outcome.run_id)}}">Run {{outcome.run_id}}</a>
% end
% if outcome.reason:
<span class="muted"><bdi>{{outcome.reason}}</bdi></span>
% end
</li>
% end
</ul>
% end
