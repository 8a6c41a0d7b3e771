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
% include("partials/table_section.tpl", table=flags)
% include("partials/table_section.tpl", table=instances)
