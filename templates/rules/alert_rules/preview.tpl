<section id="preview" class="side">
<h2>The last 48 hours</h2>
% if not preview:
<p class="hint">“Preview” says how often the rule would have fired.</p>
% else:
<p><strong>{{preview["state_text"]}}</strong> now: <bdi>{{preview["reason"]}}</bdi></p>
% if preview["has_values"]:
% include("partials/line_chart.tpl", chart=preview["chart"])
<p class="axis"><span>48 h ago</span><span>limit {{preview["limit_text"]}} dashed</span><span>now</span></p>
% end
<p>{{preview["sentence"]}}</p>
% if preview["periods"]:
<ul>
% for period in preview["periods"]:
<li>
% include("partials/time.tpl", at=period["start"])
% if not period["is_present"]:
to
% include("partials/time.tpl", at=period["stop"])
% end
</li>
% end
</ul>
% end
% if preview["gaps"]:
<p class="hint">No value at {{preview["gaps"]}} of {{plural(len(preview["points"]), "point")}}.</p>
% end
% if preview["has_values"]:
<details>
<summary>Show as table</summary>
<table>
<thead><tr><th scope="col">At</th><th scope="col">Value</th><th scope="col">Samples</th><th scope="col">Fires</th></tr></thead>
<tbody>
% for point in preview["points"]:
% if point["value"] is not None:
<tr><td>
% include("partials/time.tpl", at=point["time"])
</td><td>{{point["text"]}}</td><td>{{point["samples"]}}</td><td>{{"yes" if point["firing"] else "no"}}</td></tr>
% end
% end
</tbody>
</table>
</details>
% end
% end
</section>
