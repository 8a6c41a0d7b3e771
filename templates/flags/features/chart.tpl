<p class="muted">{{chart["summary"]}}</p>
<figure class="chart">
<div class="axis" aria-hidden="true"><span>{{number(chart["busiest"])}}</span><span>0</span></div>
<svg role="img" aria-label="{{chart['summary']}}" height="{{chart['height']}}">
% for bar in chart["bars"]:
<rect class="{{bar['kind']}}" x="{{bar['x']}}%" y="{{bar['y']}}" width="{{bar['width']}}%" height="{{bar['height']}}"></rect>
% end
<line x1="0" y1="{{chart['height']}}" x2="100%" y2="{{chart['height']}}"></line>
</svg>
<div class="axis" aria-hidden="true"><span>{{chart["start"]}} ago</span><span>now</span></div>
</figure>
% if chart["variants"]:
<p class="tags">
% for kind, text in chart["variants"]:
<bdi class="tag {{kind}}">{{text}}</bdi>
% end
</p>
% end
<details>
<summary>Table</summary>
<div class="scroll" tabindex="0">
<table>
<thead><tr><th scope="col">From</th><th scope="col">Gets it</th><th scope="col">Doesn't</th>
% for variant in chart["names"]:
<th scope="col"><bdi>{{variant}}</bdi></th>
% end
</tr></thead>
<tbody>
% for slot in chart["rows"]:
<tr><td>
% include("partials/time.tpl", at=slot["start"])
</td><td>{{number(slot["yes"])}}</td><td>{{number(slot["no"])}}</td>
% for count in slot["variants"]:
<td>{{number(count)}}</td>
% end
</tr>
% end
</tbody>
</table>
</div>
</details>
