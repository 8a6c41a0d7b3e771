% if impact:
<section id="impact">
<h2>Impact metrics</h2>
<p class="hint">What applications measured in the last 24 hours, by the variant of this flag. Charts are per hour.</p>
<table>
<thead><tr><th scope="col">Metric</th><th scope="col">Variant</th><th scope="col">Last 24 hours</th><th scope="col">By hour</th></tr></thead>
<tbody>
% for metric in impact:
<tr>
<td title="{{metric["help"]}}"><bdi>{{metric["name"]}}</bdi>
<p class="hint"><bdi>{{metric["app_name"]}}</bdi> in {{metric["environment"]}}{{", frontend" if metric["sdk_type"] == "frontend" else ""}}</p></td>
<td><bdi>{{metric["variant"]}}</bdi></td>
<td>{{metric["summary"]}}</td>
<td>
% include("partials/sparkline.tpl", label=metric["label"], bars=metric["bars"], marks=[])
</td>
</tr>
% end
</tbody>
</table>
</section>
% end
