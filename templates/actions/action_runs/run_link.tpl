% if id in run["existing_runs"]:
<a href="{{url('/admin/projects', project, 'actions', run['action_set_id'], 'runs', id)}}">Run {{id}}</a>.
% else:
Run {{id}}, which has expired.
% end
