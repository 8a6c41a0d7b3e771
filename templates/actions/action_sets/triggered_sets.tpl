<ul>
% for action_set in triggered_sets:
<li><a href="{{url('/admin/projects', action_set['project'], 'actions', action_set['id'])}}"><bdi>{{action_set["name"]}}</bdi><span class="hidden"> in {{action_set["project"]}}</span></a>
% if not action_set["enabled"]:
<span class="tag">off</span>
% end
</li>
% end
</ul>
