% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Rules</h1>
% if can_edit and not limit_text:
<a class="button" href="{{url('/admin/alert-rules/new')}}">New alert rule</a>
% end
</div>
% if limit_text:
<p class="hint">{{limit_text}}</p>
% end
% if table.rows:
% include("partials/table.tpl")
% else:
<section class="empty">
<p>No alert rules yet. A rule fires when a number that applications report, or a Prometheus query, passes a limit, or when an endpoint is silent. <a href="{{url('/docs/guide/alert-rules')}}">Guide</a></p>
% if can_edit and not has_endpoints:
<p>The signals of a rule are stored at a signal endpoint. <a href="{{url('/admin/signals/new')}}">Create one</a> first.</p>
% end
</section>
% end
