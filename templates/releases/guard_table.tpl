<table class="guards">
<caption class="hidden">{{name}}</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Guard</th><th scope="col">Now</th><th scope="col">Limit</th><th scope="col">Last hour</th></tr></thead>
<tbody>
% for guard in rows:
<tr>
<td class="tag {{guard["style"]}}"><span aria-hidden="true">{{guard["icon"]}}</span> {{guard["word"]}}</td>
<th scope="row"><bdi>{{guard["name"]}}</bdi>
% if guard["reason"]:
<span class="hint"><bdi>{{guard["reason"]}}</bdi></span>
% end
</th>
<td data-label="Now">{{guard["now"]}}</td><td data-label="Limit">{{guard["limit"]}} <span class="hint">{{guard["effect"]}}</span></td>
<td>
% if guard["chart"]:
% include("releases/guard_chart.tpl", chart=guard["chart"], label=guard["chart_label"])
% end
</td>
</tr>
% end
</tbody>
</table>
