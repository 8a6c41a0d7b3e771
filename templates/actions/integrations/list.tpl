% rebase("layout.tpl", title=title, live=False)
<h1>Integrations</h1>
% if identity.has_permission("ADMIN"):
<p><a href="{{url('/admin/signals')}}">Signals</a> <span class="hint">receive webhooks from monitoring, CI and other external systems.</span></p>
<p><a href="{{url('/admin/integrations/metrics')}}">Metric sources</a> <span class="hint">are queried by alert rules.</span></p>
% end
<p class="hint">Send changes to chats, monitoring systems and webhooks. {{len(integrations)}} of {{limit}} integrations.</p>
% if integrations:
<ul class="cards">
% for one in integrations:
<li class="card">
<div class="heading">
<h2>\\
% if can_edit:
<a href="{{url('/admin/integrations', one['id'])}}"><bdi>{{one["label"]}}</bdi></a>\\
% else:
<bdi>{{one["label"]}}</bdi>\\
% end
</h2>
<span class="badge">{{one["kind"].label}}</span>
<span class="badge">{{"on" if one["enabled"] else "off"}}</span>
</div>
% if one["name"] and one["description"]:
<p><bdi>{{one["description"]}}</bdi></p>
% end
% if one["disabled_reason"]:
<p>{{one["disabled_reason"]}}</p>
% end
% if one["missing"]:
<p>Enter before it can be enabled: {{", ".join(one["missing"])}}</p>
% end
<dl>
<div><dt>Sends</dt><dd>{{", ".join(one["labels"][:5]) or "notifications by its name"}}\\
% if len(one["labels"]) > 5:
 and {{len(one["labels"]) - 5}} more\\
% end
</dd></div>
% for label, values in (("Projects", one["projects"]), ("Environments", one["environments"])):
% if values:
<div><dt>{{label}}</dt><dd><bdi>{{", ".join(values)}}</bdi></dd></div>
% end
% end
<div><dt>Waiting</dt><dd>{{number(one["waiting"])}}</dd></div>
<div><dt>Last sent</dt><dd>
% if one["last_sent_at"]:
% include("partials/time.tpl", at=one["last_sent_at"])
% else:
never
% end
</dd></div>
% if one["last_error"]:
<div><dt>Last error</dt><dd><bdi>{{one["last_error"]}}</bdi></dd></div>
% end
</dl>
</li>
% end
</ul>
% else:
<p class="empty">No integrations yet.</p>
% end
% if limit_text:
<p>{{limit_text}}</p>
% elif can_edit:
<section>
<h2>New integration</h2>
<ul class="cards">
% for provider in providers:
<li class="card">
<h3><a href="{{url('/admin/integrations/new', provider.name)}}">{{provider.label}}</a></h3>
<p>{{provider.description}}</p>
% if provider.deprecated:
<p class="hint">{{provider.deprecated}}</p>
% end
</li>
% end
</ul>
</section>
% end
