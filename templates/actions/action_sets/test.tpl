% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>Test <bdi>{{row["name"]}}</bdi></h1>
<a href="{{url('/admin/projects', project, 'actions', row['id'])}}">Edit</a>
<a href="{{url('/admin/projects', project, 'actions', row['id'], 'runs')}}">History</a>
</div>
<p class="hint">Dry run{{"" if is_scheduled else " against a signal"}}. Nothing changes and no one is notified.</p>
<section id="result">
% include("partials/problems.tpl")
% if result:
<h2>{{"Would run" if result["matched"] and result["enabled"] and result["armed"] else "Would not run"}}</h2>
% if not result["enabled"]:
<p>The set is disabled.</p>
% end
% if not result["armed"]:
<p>It runs once and has run. Re-enable it to let it run again.</p>
% end
% if result["endsAlert"]:
<p>The signal resolves an alert.</p>
% elif is_scheduled:
<p>The actions run at the next time.</p>
% elif not result["matched"]:
<p>The payload does not match.</p>
% else:
<p>{{"The payload matches all filters." if result["filters"] else "Every signal matches: the set has no filters."}}</p>
% end
% if result["filters"]:
<h3>Filters</h3>
<ul class="checks">
% for item in result["filters"]:
<li><bdi>{{item["text"]}}</bdi>: <strong class="tag {{'gets' if item['matched'] else 'broken'}}">{{"yes" if item["matched"] else "no"}}</strong>
% if not item["inner"]:
<span class="muted"><bdi>{{"field missing" if item["found"] is None else "found: " + item["found"]}}</bdi></span>
% else:
<ul>
% for inner in item["inner"]:
<li><bdi>{{inner["text"]}}</bdi>: <strong class="tag {{'gets' if inner['matched'] else 'broken'}}">{{"yes" if inner["matched"] else "no"}}</strong>
<span class="muted"><bdi>{{"field missing" if inner["found"] is None else "found: " + inner["found"]}}</bdi></span></li>
% end
</ul>
% end
</li>
% end
</ul>
% end
<h3>{{"Actions" if result["matched"] else "Actions, if it matched"}}</h3>
<ol class="strategies">
% for item in result["actions"]:
<li><bdi>{{item["text"]}}</bdi>: <strong class="tag {{'gets' if item['wouldSucceed'] else 'broken'}}">{{"would succeed" if item["wouldSucceed"] else "would fail"}}</strong>
% if item["changes"]:
<ul>
% for text in item["changes"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
% else:
<span class="muted"><bdi>{{item["details"]}}</bdi></span>
% end
</li>
% end
</ol>
% end
</section>
<form method="post" action="{{url('/admin/projects', project, 'actions', row['id'], 'test')}}">
% include("partials/csrf.tpl")
% include("partials/form_fields.tpl", fields=fields)
<button>Run test</button>
% if endpoint:
<p class="actions"><a href="{{url('/admin/signals', endpoint['id'], 'send')}}">Send a test signal instead</a> <span class="muted">This runs the set.</span></p>
% end
</form>
