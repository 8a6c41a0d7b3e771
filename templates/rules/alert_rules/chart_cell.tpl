% if row["chart"]:
% include("partials/line_chart.tpl", chart=row["chart"])
% else:
<span class="muted">–</span>
% end
