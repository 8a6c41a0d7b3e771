% rebase("layout.tpl", title=title, live=False)
<h1>Integrations</h1>
<ul class="cards">
<li class="card">
<h2><a href="{{url('/admin/signals')}}">Signals</a></h2>
<p>Receive webhooks from monitoring, CI and other external systems.</p>
<dl>
<div><dt>Signal endpoints</dt><dd>{{endpoint_count}} of {{endpoint_limit}}</dd></div>
</dl>
</li>
</ul>
