<table class="guards">
<caption class="hidden">{{name}}</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Guard</th><th scope="col">Now</th><th scope="col">Limit</th><th scope="col">Last hour</th></tr></thead>
<tbody>
% for guard in rows:
<tr>
<td class="state {{guard["style"]}}"><span aria-hidden="true">{{guard["icon"]}}</span> {{guard["word"]}}</td>
<th scope="row"><bdi>{{guard["name"]}}</bdi>
% if guard["reason"]:
<span class="hint"><bdi>{{guard["reason"]}}</bdi></span>
% end
</th>
<td data-label="Now">{{guard["now"]}}</td><td data-label="Limit">{{guard["limit"]}} <span class="hint">{{guard["effect"]}}</span></td>
<td>
% chart = guard["chart"]
% if chart:
<svg class="sparkline" viewBox="0 0 144 24" width="144" height="24" role="img" aria-label="{{guard["chart_label"]}}">
<line x1="0" y1="23.5" x2="144" y2="23.5"></line>
% for bar in chart["bars"]:
<rect x="{{bar["x"]}}" y="{{bar["y"]}}" width="5" height="{{bar["height"]}}" {{"class=broken" if bar["is_broken"] else ""}}></rect>
% end
% if chart["limit_y"] is not None:
<line class="limit" x1="0" y1="{{chart["limit_y"]}}" x2="144" y2="{{chart["limit_y"]}}"></line>
% end
</svg>
% end
</td>
</tr>
% end
</tbody>
</table>
