% rebase("layout.tpl", title=title, live=False)
<h1>API</h1>
<p class="hint">HTTP API reference · <a href="{{url('/docs/openapi.json')}}">OpenAPI 3.1</a></p>
% for group, operations in groups:
<h2>{{group}}</h2>
<ul class="rows">
% for operation in operations:
<li><span class="tag">{{operation["method"]}}</span><code>{{operation["path"]}}</code><span>{{operation["summary"]}}</span>\\
% if operation["body"]:
<span>{{"list of " if operation["is_list"] else ""}}<a href="{{url('/docs/bodies', operation['body'])}}">{{operation["body"]}}</a></span>\\
% end
<span class="muted">{{operation["role"]}}</span></li>
% end
</ul>
% end
