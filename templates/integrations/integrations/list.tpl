% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Integrations</h1>
% if can_create:
<a class="button" href="#providers">New integration</a>
% end
</div>
% if identity.has_permission("ADMIN"):
<p><a href="{{url('/admin/signals')}}">Signals</a> <span class="hint">receive webhooks from monitoring, CI and other external systems.</span></p>
<p><a href="{{url('/admin/integrations/metrics')}}">Metric sources</a> <span class="hint">are queried by alert rules and guards.</span></p>
% end
<p class="hint">{{hint}}</p>
% if limit_text:
<p>{{limit_text}}</p>
% end
% for table in tables:
% include("partials/table_section.tpl" if table.title else "partials/table.tpl")
% end
