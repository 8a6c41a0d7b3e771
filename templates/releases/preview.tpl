<section id="preview">
% if preview:
<h2>The last 48 h</h2>
% if preview["is_empty"]:
<p><span aria-hidden="true">–</span> No alert and no value in the last 48 h.</p>
% end
% if preview["guards"]:
<table class="guards">
<caption class="hidden">Guards in the last 48 h</caption>
<thead><tr><th scope="col">Guard</th><th scope="col">Now</th><th scope="col">Last 48 h</th></tr></thead>
<tbody>
% for number, guard in enumerate(preview["guards"], 1):
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
<p class="hint">The shortest step for these guards is {{plural(preview["shortest_minutes"], "minute")}}. Metrics older than two hours are exact to one hour.</p>
% for warning in preview["warnings"]:
<p class="hint"><bdi>{{warning["message"]}}</bdi></p>
% end
% end
</section>
