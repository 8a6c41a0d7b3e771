% rebase("layout.tpl", title=title, live=False)
<h1>Application <bdi>{{application["app_name"]}}</bdi></h1>
% if application["description"]:
<p>{{application["description"]}}</p>
% end
<dl>
<div><dt>First seen</dt><dd>
% include("partials/time.tpl", at=application["created_at"])
</dd></div>
<div><dt>Last seen</dt><dd>
% include("partials/time.tpl", at=application["seen_at"])
</dd></div>
% if application["strategies"]:
<div><dt>Supported strategies</dt><dd>
<ul class="names">
% for name in application["strategies"]:
<li><bdi>{{name}}</bdi></li>
% end
</ul>
</dd></div>
% end
</dl>
% if application["missing_strategies"]:
<p class="problem">Unknown strategies: <bdi>{{", ".join(application["missing_strategies"])}}</bdi></p>
% end
<section>
<h2>Flags used</h2>
% if not features:
<p class="empty">No recent metrics.</p>
% else:
<ul class="rows">
% for feature in features:
<li>
<strong>{{feature["feature"]}}</strong>
<span class="badge">{{feature["environment"]}}</span>
<span>{{feature["yes"]}} exposed, {{feature["no"]}} not exposed in the last {{plural(retention_hours, "hour")}}</span>
<span class="muted">project {{feature["project"]}}</span>
</li>
% end
</ul>
% end
</section>
<section>
<h2>Instances</h2>
% if not instances:
<p class="empty">No instances in the last 2 days.</p>
% else:
% if instance_count > len(instances):
<p class="hint">The last {{len(instances)}} of {{instance_count}} instances.</p>
% end
<ul class="rows">
% for instance in instances:
<li>
<strong><bdi>{{instance["instance_id"]}}</bdi></strong>
<span class="badge">{{instance["environment"]}}</span>
<span><bdi>{{instance["sdk_version"] or "SDK unknown"}}</bdi></span>
% if instance["client_ip"] and can_see_addresses:
<span class="muted">{{instance["client_ip"]}}</span>
% end
<span class="muted">last seen
% include("partials/time.tpl", at=instance["last_seen"])
</span>
</li>
% end
</ul>
% end
</section>
<p class="actions"><a href="{{url('/admin/applications')}}">All applications</a></p>
