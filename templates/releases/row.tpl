<li data-announce="{{release["place"]}}: {{release["word"]}} at {{release["rollout"]}}%">
% include("releases/state.tpl", release=release)
<a href="{{url(release["path"])}}"><bdi>{{release["feature"]}}</bdi> in <bdi>{{release["environment"]}}</bdi></a>
<span>{{release["rollout"]}}% {{release["step_text"]}}</span>
% if release["guards"]:
<span>{{release["guard_summary"]}}</span>
% end
<span class="muted">{{"for " + release["held_for"] if release["held_for"] else release["next_text"]}}</span>
<span class="row-commands">
% include("releases/row_commands.tpl", release=release)
</span>
% if release["heldReason"]:
<p class="muted"><bdi>{{release["heldReason"]}}</bdi></p>
% end
</li>
