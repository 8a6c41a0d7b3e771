% rebase("layout.tpl", title=title, live=False)
% path = "/admin/projects/%s/actions" % project
<p><a href="{{url(path)}}">Actions of {{project}}</a></p>
<div class="heading">
<h1>Test <bdi>{{row["name"]}}</bdi></h1>
<a href="{{url('%s/%d' % (path, row['id']))}}">Edit</a>
<a href="{{url('%s/%d/runs' % (path, row['id']))}}">History</a>
</div>
<p class="hint">What the set would make of a signal now. Nothing is changed, nobody is told.</p>
% include("partials/problems.tpl")
% if result:
<section id="result">
<h2>{{"It would run" if result["matched"] and result["enabled"] and result["armed"] else "It would not run"}}</h2>
% if not result["enabled"]:
<p>The set is off.</p>
% end
% if not result["armed"]:
<p>The set is latched: it ran, and nobody has armed it again.</p>
% end
% if result["matched"]:
<p>The payload {{"matches all filters." if result["filters"] else "needs no filter to match."}}</p>
% else:
<p>The payload does not match.</p>
% end
% if result["filters"]:
<h3>Filters</h3>
<ul class="checks">
% for one in result["filters"]:
<li><bdi>{{one["words"]}}</bdi>: <strong class="result {{'yes' if one['matched'] else 'no'}}">{{"yes" if one["matched"] else "no"}}</strong>
% if not one["inner"]:
<span class="muted"><bdi>{{"nothing is there" if one["found"] is None else "found: " + one["found"]}}</bdi></span>
% else:
<ul>
% for leaf in one["inner"]:
<li><bdi>{{leaf["words"]}}</bdi>: <strong class="result {{'yes' if leaf['matched'] else 'no'}}">{{"yes" if leaf["matched"] else "no"}}</strong>
<span class="muted"><bdi>{{"nothing is there" if leaf["found"] is None else "found: " + leaf["found"]}}</bdi></span></li>
% end
</ul>
% end
</li>
% end
</ul>
% end
<h3>{{"Actions" if result["matched"] else "Actions, if it matched"}}</h3>
<ol class="strategies">
% for one in result["actions"]:
<li><bdi>{{one["words"]}}</bdi>: <strong class="result {{'yes' if one['wouldSucceed'] else 'no'}}">{{"works" if one["wouldSucceed"] else "would fail"}}</strong>
% if one["changes"]:
<ul>
% for text in one["changes"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
% else:
<span class="muted"><bdi>{{one["details"]}}</bdi></span>
% end
</li>
% end
</ol>
</section>
% end
<form method="post" action="{{url('%s/%d/test' % (path, row['id']))}}">
% include("partials/csrf.tpl")
% include("partials/select.tpl", name="signal", label="Signal", value=values["signal"], choices=[("", "the payload below"), *[(str(one["id"]), "%s: %s" % (readable(one["created_at"]), one["preview"])) for one in newest]], hint=("The newest that %s received." % endpoint["name"]) if endpoint else "The endpoint that it listens to is gone.")
% include("partials/textarea.tpl", name="payload", label="Payload", value=values["payload"], rows=8, hint="JSON, when no signal is chosen.")
<button>Try it</button>
% if endpoint:
<p class="actions"><a href="{{url('/admin/signals/%d/send' % endpoint['id'])}}">Send a test signal instead</a> <span class="muted">which really runs the set</span></p>
% end
</form>
