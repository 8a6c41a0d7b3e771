<section id="replay">
% if replay:
<h2>Replay: the last 48 h</h2>
% if replay["is_empty"]:
<p><span aria-hidden="true">–</span> Nothing to replay: no alert and no value in the last 48 h.</p>
% else:
<p class="state {{"finished" if replay["is_ok"] else "rolled-back"}} replay-result"><span aria-hidden="true">{{"✓" if replay["is_ok"] else "⟲"}}</span> {{replay["sentence"]}}</p>
<p>Of {{replay["starts"]}} possible starts, one each hour: {{replay["counts"]}}.</p>
% if replay["calmer"]:
% calmer = replay["calmer"]
<p>⚠ {{calmer["noisy"]}} of {{replay["starts"]}} starts would have been rolled back. Consider “for {{calmer["minutes"]}} min in a row” for guard {{calmer["number"]}}: then it is {{calmer["count"]}} of {{replay["starts"]}}.
% if action:
<button class="quiet" form="editor" name="do" value="{{calmer["button"]}}" formaction="{{action}}#guards" formnovalidate data-swap="editor replay">Use {{calmer["minutes"]}} min</button>
% end
</p>
% end
% end
% if replay["guards"]:
<table class="guards">
<caption class="hidden">Guards in the last 48 h</caption>
<thead><tr><th scope="col">Guard</th><th scope="col">Now</th><th scope="col">Last 48 h</th></tr></thead>
<tbody>
% for number, guard in enumerate(replay["guards"], 1):
<tr>
<th scope="row">{{number}} · <bdi>{{guard["name"]}}</bdi>
% if guard["reason"]:
<span class="hint"><bdi>{{guard["reason"]}}</bdi></span>
% end
</th>
<td>{{guard["state"]}}</td>
<td>
% include("releases/guard_chart.tpl", chart=guard["chart"], label=guard["text"])
<span class="hint">{{guard["text"]}}</span></td>
</tr>
% end
</tbody>
</table>
% end
<p class="hint">The shortest step for these guards is {{plural(replay["shortest_minutes"], "minute")}}. Metrics older than two hours are exact to one hour. A replay can't know how the feature itself would have changed them.</p>
% for warning in replay["warnings"]:
<p class="hint"><bdi>{{warning["message"]}}</bdi></p>
% end
% end
</section>
