<section class="release" aria-labelledby="release-{{release['id']}}">
<h4 id="release-{{release['id']}}"><span aria-hidden="true">{{release["icon"]}}</span> <a href="{{url(release['path'])}}">Release {{release["id"]}}</a> · {{release["word"]}} at {{release["rollout"]}}%</h4>
% if release["heldReason"]:
<p class="problem"><bdi>{{release["heldReason"]}}</bdi></p>
% end
<ol class="steps">
% for step in release["track"]:
<li {{"aria-current=step" if step["is_present"] else ""}}><span aria-hidden="true">{{step["mark"]}}</span> {{step["rollout"]}}% <span class="muted">{{step["time"]}}</span></li>
% end
</ol>
% if release["due_at"] and release["state"] == "running":
<p>{{"Watched until" if release["watchUntil"] else "Next step, if all guards are ok, at"}} <time datetime="{{format_iso(release['due_at'])}}">{{readable(release["due_at"])}}</time></p>
% end
% if release["guard_rows"]:
<table>
<thead><tr><th scope="col">Result</th><th scope="col">Guard</th><th scope="col">Now</th><th scope="col">Limit</th><th scope="col">When broken</th></tr></thead>
<tbody>
% for guard in release["guard_rows"]:
<tr><td><span aria-hidden="true">{{guard["icon"]}}</span> {{guard["word"]}}</td><td><bdi>{{guard["name"]}}</bdi>
% if guard["reason"]:
<p class="hint"><bdi>{{guard["reason"]}}</bdi></p>
% end
</td><td>{{guard["value"]}}</td><td>{{guard["limit"]}}</td><td>{{guard["effect"]}}</td></tr>
% end
</tbody>
</table>
% end
% for warning in release["warnings"]:
<p class="hint">{{warning["message"]}}</p>
% end
% if release["commands"]:
<p class="actions">
% for label, path in release["commands"]:
<a class="button" href="{{url(path)}}">{{label}}<span class="hidden">: release {{release["id"]}}</span></a>
% end
</p>
% end
</section>
