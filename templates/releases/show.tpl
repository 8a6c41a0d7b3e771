% rebase("layout.tpl", title=title, live=is_live)
<div id="release" data-live>
<div class="heading">
<h1><a href="{{url(release["flag_path"])}}"><bdi>{{release["feature"]}}</bdi></a> in <bdi>{{release["environment"]}}</bdi></h1>
% include("releases/commands.tpl", release=release)
</div>
<div class="heading">
<h2 class="answer {{release["style"]}}" data-announce="{{release["place"]}}: {{release["headline"]}}"><span aria-hidden="true">{{release["icon"]}}</span> <bdi>{{release["headline"]}}</bdi></h2>
<span class="muted">{{"planned" if release["state"] == "scheduled" else "started"}}
% include("partials/time.tpl", at=release["begin_at"])
by <bdi>{{release["createdBy"]}}</bdi></span>
</div>
% include("releases/notes.tpl", release=release)
% if chart:
% include("releases/recorder.tpl", chart=chart, release=release)
% elif release["guard_rows"]:
<ul class="lanes">
% for guard in release["guard_rows"]:
% include("releases/guard.tpl", guard=guard)
% end
</ul>
% end
<section>
<h2>Log</h2>
<ul class="rows log">
% for step in planned:
<li class="muted">
% if step["at"]:
% include("partials/time.tpl", at=step["at"])
% else:
later
% end
{{step["text"]}}</li>
% end
% for event in log:
<li>
% include("partials/time.tpl", at=event["at"])
<bdi>{{event["actor"]}}</bdi> <bdi>{{event["text"]}}</bdi></li>
% end
</ul>
% if copy:
<details>
<summary>Copy as text</summary>
<div class="copy"><pre id="release-text" tabindex="0">{{copy}}</pre>
<button type="button" class="quiet needs-script" data-copy="release-text">Copy</button></div>
</details>
% end
</section>
</div>
