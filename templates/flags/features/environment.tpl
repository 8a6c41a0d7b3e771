% name = row["name"]
% place = here + "/environments/" + environment["name"]
% is_on = environment["enabled"]
<section class="card" id="in-{{environment['name']}}">
<div class="heading">
<h3>{{environment["name"]}}</h3>
% if may_edit:
<form method="post" action="{{url(place + ('/off' if is_on else '/on'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if is_on else 'false'}}" aria-label="{{name}} in {{environment['name']}}">{{"on" if is_on else "off"}}</button>
</form>
% else:
<strong>{{"on" if is_on else "off"}}</strong>
% end
</div>
% if not environment["strategies"]:
<p class="muted">No strategy.{{" On for everybody." if is_on else " Switched on, it gets the project's default one: as a rule, everybody."}}</p>
% end
% if environment["strategies"]:
% if len(environment["strategies"]) > 1:
<p class="hint">On for everybody whom one of these lets in.</p>
% end
<ol class="strategies">
% for n, strategy in enumerate(environment["strategies"], 1):
<li>
% if strategy["title"]:
<strong><bdi>{{strategy["title"]}}</bdi></strong>
% end
% if strategy["disabled"]:
<span class="badge">left out</span>
% end
<bdi>{{strategy["words"]}}</bdi>
% if may_edit:
<span class="actions">
<a href="{{url('%s/strategies/%s' % (place, strategy['id']))}}">Edit<span class="hidden"> strategy {{n}} in {{environment["name"]}}</span></a>
<a href="{{url('%s/strategies/%s/delete' % (place, strategy['id']))}}">Remove<span class="hidden"> strategy {{n}} in {{environment["name"]}}</span></a>
</span>
% end
</li>
% end
</ol>
% end
% if environment["variants"]:
<p>Variants of the environment: <bdi>{{environment["variants"]}}</bdi></p>
% end
<p class="actions">
% if may_edit:
<a href="{{url(place + '/strategies/new')}}">Add strategy<span class="hidden"> in {{environment["name"]}}</span></a>
% end
% if not row["archived_at"]:
<a href="{{url('/admin/playground?flag=%s&environment=%s' % (name, environment['name']))}}#result">Why?<span class="hidden"> Explain {{name}} in {{environment["name"]}}</span></a>
% end
</p>
% chart = environment["chart"]
% if chart:
<h4>Last 24 hours</h4>
% include("partials/yes_and_no.tpl", chart=chart, label="%d yes and %d no in the last 24 hours in %s" % (chart["yes"], chart["no"], environment["name"]))
<p class="hint"><span class="yes">{{chart["yes"]}} yes</span> (upwards), <span class="no">{{chart["no"]}} no</span> (downwards), a bar for each hour.</p>
<details>
<summary>In figures<span class="hidden"> for {{environment["name"]}}</span></summary>
<table>
<thead><tr><th scope="col">Hour</th><th scope="col">Yes</th><th scope="col">No</th></tr></thead>
<tbody>
% for hour in chart["hours"]:
<tr><td>
% include("partials/time.tpl", at=hour["hour"])
</td><td>{{hour["yes"]}}</td><td>{{hour["no"]}}</td></tr>
% end
</tbody>
</table>
</details>
% else:
<p class="muted">No application has asked here in the last 24 hours.</p>
% end
</section>
