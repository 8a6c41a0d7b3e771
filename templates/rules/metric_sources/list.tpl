% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Metric sources</h1>
% if len(table.rows) < limit:
<a class="button" href="{{url('/admin/integrations/metrics/new')}}">New metric source</a>
% end
</div>
<p class="hint">{{len(table.rows)}} of {{limit}} sources. Alert rules query them. <a href="{{url('/docs/guide/alert-rules')}}">Guide to alert rules</a></p>
% if table.rows:
% include("partials/table.tpl")
% else:
<section class="empty">
<h2>No metric sources yet</h2>
<p>A metric source is a server with the API of Prometheus. Rules on impact metrics need none.</p>
</section>
% end
