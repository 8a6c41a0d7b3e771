% environment = chart["environment"]
<figure class="chart">
<div class="axis" aria-hidden="true">
% for value in chart["scale"]:
<span>{{number(value)}}</span>
% end
</div>
<svg role="group" aria-label="{{chart['label']}}" height="{{chart['height']}}">
% for bar in chart["bars"]:
<rect class="{{bar['kind']}}" x="{{bar['x']}}%" y="{{bar['y']}}" width="{{bar['width']}}%" height="{{bar['height']}}"></rect>
% end
<line x1="0" y1="{{chart['line']}}" x2="100%" y2="{{chart['line']}}"></line>
% for mark in chart["marks"]:
<a href="{{url(mark['path'])}}" class="mark {{mark['kind']}}" tabindex="-1" aria-label="{{readable(mark['at'])}}: {{mark['text']}}"><title>{{readable(mark["at"])}}: {{mark["text"]}}</title><line x1="{{mark['x']}}%" y1="0" x2="{{mark['x']}}%" y2="{{chart['height'] - 20}}"></line><svg x="{{mark['x']}}%" y="{{chart['height'] - 14}}" overflow="visible" aria-hidden="true"><circle r="12"></circle><path d="{{shapes[mark['kind']]}}"></path></svg></a>
% end
</svg>
<div class="axis" aria-hidden="true"><span>{{chart["start"]}} ago</span><span>now</span></div>
</figure>
<p class="hint">{{chart["summary"]}}</p>
% if chart["variants"]:
<p class="tags"><span class="muted">Variants</span>
% for kind, text in chart["variants"]:
<bdi class="tag {{kind}}">{{text}}</bdi>
% end
</p>
% end
% if chart["marks"]:
<ul class="rows marks">
% for mark in chart["marks"][:5]:
% include("flags/features/timeline_mark.tpl", mark=mark)
% end
</ul>
% end
<details>
<summary>Show as table<span class="hidden"> for {{environment}}</span></summary>
<div class="scroll" tabindex="0">
<table>
<thead><tr><th scope="col">From</th><th scope="col">Exposed</th><th scope="col">Not exposed</th>
% for name in chart["names"]:
<th scope="col"><bdi>{{name}}</bdi></th>
% end
</tr></thead>
<tbody>
% for row in chart["rows"]:
<tr><td>
% include("partials/time.tpl", at=row["start"])
</td><td>{{number(row["yes"])}}</td><td>{{number(row["no"])}}</td>
% for count in row["variants"]:
<td>{{number(count)}}</td>
% end
</tr>
% end
</tbody>
</table>
</div>
% if len(chart["marks"]) > 5:
<ul class="rows marks">
% for mark in chart["marks"][5:]:
% include("flags/features/timeline_mark.tpl", mark=mark)
% end
</ul>
% end
</details>
