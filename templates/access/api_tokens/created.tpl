% rebase("layout.tpl", title=title, live=False)
<h1>API token <bdi>{{token["token_name"]}}</bdi> created</h1>
<p class="notice">Copy it now: it is shown this once and never again.</p>
<div class="field">
<label for="secret">Token</label>
% include("partials/copy.tpl", id="secret", value=secret, label="Token")
</div>
% place, probe = {
%     "client": ("/api", "/api/client/features"),
%     "frontend": ("/api/frontend", "/api/frontend"),
% }.get(token["type"], ("", "/api/admin/projects"))
% if place:
<p>The SDK's <em>url</em> is <code>{{own_url()}}{{place}}</code>.</p>
% end
<h2>Try it</h2>
<pre><code>curl -H 'Authorization: {{secret}}' \
  '{{own_url()}}{{probe}}'</code></pre>
<p class="actions"><a class="button" href="{{url('/admin/api-tokens')}}">API tokens</a></p>
