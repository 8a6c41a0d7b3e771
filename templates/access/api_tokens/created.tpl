% rebase("layout.tpl", title=title, live=False)
<h1>API token <bdi>{{token["token_name"]}}</bdi> created</h1>
<p class="notice">Copy this token now. You won't be able to see it again.</p>
% for field in copy_fields:
% include("partials/copy_field.tpl", field=field)
% end
<h2>Try it</h2>
<pre tabindex="0"><code>curl -H 'Authorization: {{secret}}' \
  '{{test_url}}'</code></pre>
<p><a href="{{url('/docs/guide/sdk')}}">How to connect an SDK</a></p>
<p class="actions"><a class="button" href="{{url('/admin/api-tokens')}}">Done</a></p>
