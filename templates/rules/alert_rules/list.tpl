% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Alert rules</h1>
% if can_edit and len(table.rows) < limit:
<a class="button" href="{{url('/admin/alert-rules/new')}}">New alert rule</a>
% end
</div>
<p class="hint">{{len(table.rows)}} of {{plural(limit, "rule")}}. The service compares impact metrics and Prometheus queries with a limit, and stores a signal when a rule fires or resolves. <a href="{{url('/docs/guide/alert-rules')}}">Guide to alert rules</a></p>
% if table.rows:
% include("partials/table.tpl")
% else:
<section class="empty">
<h2>No alert rules yet</h2>
% if can_edit and not has_endpoints:
<p>The signals of a rule are stored at a signal endpoint. <a href="{{url('/admin/signals/new')}}">Create one</a> first.</p>
% else:
<p>A rule needs a number that SDKs report, such as errors and requests, and a signal endpoint for its signals. An action set of the endpoint switches flags.</p>
% end
</section>
% end
