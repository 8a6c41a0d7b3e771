% rebase("layout.tpl", title=title, live=False)
<h1>API</h1>
<p class="hint">Everything that programs may call. Tools read it as <a href="{{url('/docs/openapi.json')}}">OpenAPI 3.1</a>.</p>
% for group, operations in groups:
<h2 id="{{group.replace(' ', '-')}}">{{group.capitalize().replace("Api", "API")}}</h2>
<ul class="rows">
% for operation in operations:
<li>
<span class="badge">{{operation["method"]}}</span>
<code>{{operation["path"]}}</code>
% if operation["body"]:
<span>{{"list of " if operation["is_list"] else ""}}<a href="#{{operation['body']}}">{{operation["body"]}}</a></span>
% end
<span class="muted">{{operation["needs"]}}</span>
</li>
% end
</ul>
% end
<h2>Bodies</h2>
% for name, text in schemas.items():
<details id="{{name}}">
<summary><code>{{name}}</code></summary>
<pre><code>{{text}}</code></pre>
</details>
% end
