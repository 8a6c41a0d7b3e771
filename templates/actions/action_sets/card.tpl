% path = "/admin/projects/%s/actions/%d" % (item["project"], item["id"])
<li class="card" id="set-{{item['id']}}">
<div class="heading">
<h3><a href="{{url(path)}}"><bdi>{{item["name"]}}</bdi><span class="hidden"> in {{item["project"]}}</span></a></h3>
<form method="post" action="{{url('%s/%s' % (path, 'off' if item['enabled'] else 'on'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if item['enabled'] else 'false'}}" aria-label="Action set {{item['name']}} in {{item['project']}}">{{"on" if item["enabled"] else "off"}}</button>
</form>
</div>
% if item["description"]:
<p>{{item["description"]}}</p>
% end
% if not item["armed"]:
<form method="post" action="{{url(path + '/arm')}}" class="inline">
% include("partials/csrf.tpl")
<span class="badge wrong">latched</span> It ran, and runs no more until it is armed.
<button class="quiet">Arm again<span class="hidden"> {{item["name"]}} in {{item["project"]}}</span></button>
</form>
% end
<dl class="lines">
<div><dt>When</dt><dd>
% if item["source"]:
<a href="{{url('/admin/signals/%d/log' % item['source_id'])}}">{{item["source"]}}</a> receives {{"a signal where" if item["asks"] else "any signal"}}
% else:
<span class="badge wrong">No signal endpoint</span> The one it listened to was deleted.
% end
% if item["asks"]:
<ul class="strategies">
% for text in item["asks"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
% end
</dd></div>
<div><dt>Do</dt><dd>
<ol class="strategies">
% for text in item["does"]:
<li><bdi>{{text}}</bdi></li>
% end
</ol>
</dd></div>
<div><dt>As</dt><dd>
% if item["account"]:
<a href="{{url('/admin/service-accounts/%d' % item['actor_id'])}}"><bdi>{{item["account"]["username"]}}</bdi></a>
% if item["account"]["role"] == "Viewer":
<span class="badge wrong">Viewer</span> It may not change flags.
% end
% else:
<span class="badge wrong">No service account</span> Runs fail until one is chosen.
% end
</dd></div>
% if item["behaves"]:
<div><dt>How</dt><dd>
<ul class="strategies">
% for text in item["behaves"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
</dd></div>
% end
<div><dt>Last run</dt><dd>
% if item["last"]:
% include("actions/action_runs/state.tpl", run=item["last"])
% include("partials/time.tpl", at=item["last"]["created_at"])
% if item["last"]["reason"]:
<span class="muted">{{item["last"]["reason"]}}</span>
% end
% else:
none yet
% end
</dd></div>
</dl>
<p class="actions">
% for ending, label in (("/runs", "History"), ("/test", "Test"), ("", "Edit"), ("/delete", "Delete")):
<a href="{{url(path + ending)}}">{{label}}<span class="hidden"> {{item["name"]}} in {{item["project"]}}</span></a>
% end
</p>
</li>
