% rebase("layout.tpl", title=title, live=False)
<h1><bdi>{{"Metric source " + name if name else "New metric source"}}</bdi></h1>
% include("partials/problems.tpl")
<form method="post" action="{{url(action)}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=fields)
<p class="actions save">
<button>Save metric source</button>
<a href="{{url('/admin/integrations/metrics')}}">Cancel</a>
</p>
</form>
% if name:
<section id="try">
<h2>Try a query</h2>
% if result:
% if result["value"] is None:
<p class="problem" role="status">No value after {{number(result["milliseconds"])}} ms: <bdi>{{result["reason"]}}</bdi></p>
% else:
<p class="notice" role="status"><strong>{{result["value"]}}</strong> · one series · {{number(result["milliseconds"])}} ms</p>
% end
% for warning in result["warnings"]:
<p class="hint">Warning: <bdi>{{warning}}</bdi></p>
% end
% end
<form method="post" action="{{url('/admin/integrations/metrics', name, 'query')}}#try">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=query)
<button class="quiet">Run query</button>
</form>
</section>
<section>
<h2>Delete</h2>
<p><a href="{{url('/admin/integrations/metrics', name, 'delete')}}">Delete this metric source …</a></p>
</section>
% end
