<figure class="recorder">
<div>
<svg role="img" aria-label="{{chart["label"]}}" height="{{chart["height"]}}">
% for level in chart["levels"]:
<line class="grid" x1="0" x2="100%" y1="{{level["y"]}}" y2="{{level["y"]}}"></line>
<text x="4" y="{{level["y"] - 2}}">{{level["rollout"]}}%</text>
% end
% for line in chart["lines"]:
<line class="{{"planned" if line["is_planned"] else "done"}}" x1="{{line["x1"]}}%" x2="{{line["x2"]}}%" y1="{{line["y1"]}}" y2="{{line["y2"]}}"></line>
% end
% for lane in chart["lanes"]:
<line class="grid" x1="0" x2="100%" y1="{{lane["y"]}}" y2="{{lane["y"]}}"></line>
% for bar in lane["bars"]:
<rect x="{{bar["x"]}}%" y="{{bar["y"]}}" width="{{bar["width"]}}%" height="{{bar["height"]}}" {{"class=broken" if bar["is_broken"] else ""}}></rect>
% end
% if lane["limit_y"] is not None:
<line class="limit" x1="0" x2="100%" y1="{{lane["limit_y"]}}" y2="{{lane["limit_y"]}}"></line>
% end
% end
% if chart["now"] is not None:
<line class="now" x1="{{chart["now"]}}%" x2="{{chart["now"]}}%" y1="0" y2="{{chart["height"]}}"></line>
% end
</svg>
<p class="axis">
% for at in (chart["axis"].start, chart["axis"].stop):
<time datetime="{{format_iso(at)}}" title="{{readable(at)}}" data-clock>{{at.strftime("%H:%M")}}</time>
% end
</p>
</div>
% if chart["lanes"]:
<ul class="lanes">
% for guard in chart["lanes"]:
% include("releases/guard.tpl", guard=guard)
% end
</ul>
% end
<details>
<summary>Table</summary>
<table>
<thead><tr><th scope="col">Time</th><th scope="col">Percentage</th>
% for guard in chart["lanes"]:
<th scope="col"><bdi>{{guard["name"]}}</bdi></th>
% end
</tr></thead>
<tbody>
% for row in chart["rows"]:
<tr><td>
% include("partials/time.tpl", at=row["at"])
</td><td>{{row["rollout"]}}%</td>
% for value in row["values"]:
<td>{{value}}</td>
% end
</tr>
% end
</tbody>
</table>
</details>
</figure>
