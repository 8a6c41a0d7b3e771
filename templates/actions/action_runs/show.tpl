% rebase("layout.tpl", title=title, live=False)
% path = "/admin/projects/%s/actions" % project
% if row:
<p><a href="{{url('%s/%d/runs' % (path, run['set_id']))}}">Runs of {{row["name"]}}</a></p>
% else:
<p><a href="{{url(path)}}">Actions of {{project}}</a></p>
% end
<h1>Run {{run["id"]}} of <bdi>{{run["name"]}}</bdi></h1>
% include("partials/problems.tpl")
<dl>
<div><dt>State</dt><dd>
% include("actions/action_runs/state.tpl", run=run)
</dd></div>
<div><dt>Began</dt><dd>
% include("partials/time.tpl", at=run["created_at"])
</dd></div>
<div><dt>Caused by</dt><dd>{{run["cause"]}}</dd></div>
% if run["took"]:
<div><dt>Took</dt><dd>{{run["took"]}}</dd></div>
% end
</dl>
<section>
<h2>What was done</h2>
% include("actions/action_runs/run.tpl", run=run)
</section>
% if payload:
<section>
<h2>Payload of the signal</h2>
<pre><code>{{payload}}</code></pre>
</section>
% end
