<section id="releases" {{"data-live" if is_live else ""}}>
<h2>{{heading}}</h2>
<ul class="rows release-rows">
% for release in releases:
<li data-announce="{{release["place"]}}: {{release["word"]}} at {{release["rollout"]}}%">
% include("releases/state.tpl", release=release)
<a href="{{url(release["path"])}}"><bdi>{{release["feature"]}}</bdi> in <bdi>{{release["environment"]}}</bdi></a>
<span>{{release["rollout_text"]}} <span aria-hidden="true">{{release["dots"]}}</span></span>
% if release["guards"]:
<span>{{release["guard_summary"]}}</span>
% end
<span class="muted">{{release["next_text"]}}</span>
<span class="row-commands">
% include("releases/row_commands.tpl", release=release)
</span>
% if release["heldReason"]:
<p class="muted"><bdi>{{release["heldReason"]}}</bdi></p>
% end
</li>
% end
</ul>
% if more_path:
<p><a href="{{url(more_path)}}">{{more_label}}</a></p>
% end
</section>
