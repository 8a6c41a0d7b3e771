% rebase("layout.tpl", title=title, live=False)
<h1>Integrations</h1>
<p class="hint">How other systems reach this service.</p>
<ul class="cards">
<li class="card">
<h2><a href="{{url('/admin/signals')}}">Signals</a></h2>
<p>Other systems report that something happened: a deployment, an alert, a finished job. Each has a signal endpoint or a token of its own.</p>
<dl>
<div><dt>Signal endpoints</dt><dd>{{signal_endpoints}} of at most {{signal_endpoints_limit}}</dd></div>
</dl>
</li>
</ul>
