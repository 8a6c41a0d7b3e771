<section id="preview" class="side">
<h2>What would have happened in the last 48 hours</h2>
% if not preview:
<p class="hint">“Preview” evaluates the rule over the last 48 hours: an impact metric by minute for two hours and by hour before, a query every ten minutes.</p>
% else:
<p><strong>{{preview["state_text"]}}</strong> now: <bdi>{{preview["reason"]}}</bdi></p>
% if preview["has_values"]:
% include("partials/line_chart.tpl", chart=preview["chart"])
<p class="axis"><span>48 h ago</span><span>limit {{preview["limit"] or 0}} dashed</span><span>now</span></p>
% end
% if preview["periods"]:
<p>Fires {{plural(preview["period_count"], "time")}}{{", the last:" if preview["period_count"] > len(preview["periods"]) else ":"}}</p>
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
% else:
<p>Never fires.</p>
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
</td><td>{{point["value"]}}</td><td>{{point["samples"]}}</td><td>{{"yes" if point["firing"] else "no"}}</td></tr>
% end
% end
</tbody>
</table>
</details>
% end
% end
</section>
