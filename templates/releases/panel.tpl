<section class="release {{release["style"]}}" id="release-{{release["id"]}}" {{"data-live" if release["is_active"] and release["back"] else ""}} aria-labelledby="release-{{release["id"]}}-name">
<h4 id="release-{{release["id"]}}-name" class="answer {{release["style"]}}" data-announce="{{release["place"]}}: {{release["headline"]}}"><span aria-hidden="true">{{release["icon"]}}</span> <bdi>{{release["headline"]}}</bdi></h4>
% include("releases/notes.tpl", release=release)
% include("releases/track.tpl", steps=release["track"])
% if release["guard_rows"] and release["is_active"]:
<ul class="lanes">
% for guard in release["guard_rows"]:
% include("releases/guard.tpl", guard=guard)
% end
</ul>
% end
% include("releases/commands.tpl", release=release)
</section>
