% path = "/admin/projects/%s/actions/%d" % (one["project"], one["id"])
<li class="card" id="set-{{one['id']}}">
<div class="heading">
<h3><a href="{{url(path)}}"><bdi>{{one["name"]}}</bdi><span class="hidden"> in {{one["project"]}}</span></a></h3>
<form method="post" action="{{url('%s/%s' % (path, 'off' if one['enabled'] else 'on'))}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if one['enabled'] else 'false'}}" aria-label="Action set {{one['name']}} in {{one['project']}}">{{"on" if one["enabled"] else "off"}}</button>
</form>
</div>
% if one["description"]:
<p>{{one["description"]}}</p>
% end
% if not one["armed"]:
<form method="post" action="{{url(path + '/arm')}}" class="inline">
% include("partials/csrf.tpl")
<span class="badge wrong">latched</span> It ran, and runs no more until it is armed.
<button class="quiet">Arm again<span class="hidden"> {{one["name"]}} in {{one["project"]}}</span></button>
</form>
% end
<dl class="lines">
<div><dt>When</dt><dd>
% if one["source"]:
<a href="{{url('/admin/signals/%d/log' % one['source_id'])}}">{{one["source"]}}</a> receives {{"a signal where" if one["asks"] else "any signal"}}
% else:
<span class="badge wrong">No signal endpoint</span> The one it listened to was deleted.
% end
% if one["asks"]:
<ul class="strategies">
% for text in one["asks"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
% end
</dd></div>
<div><dt>Do</dt><dd>
<ol class="strategies">
% for text in one["does"]:
<li><bdi>{{text}}</bdi></li>
% end
</ol>
</dd></div>
<div><dt>As</dt><dd>
% if one["account"]:
<a href="{{url('/admin/service-accounts/%d' % one['actor_id'])}}"><bdi>{{one["account"]["username"]}}</bdi></a>
% if one["account"]["role"] == "Viewer":
<span class="badge wrong">Viewer</span> It may not change flags.
% end
% else:
<span class="badge wrong">No service account</span> Runs fail until one is chosen.
% end
</dd></div>
% if one["behaves"]:
<div><dt>How</dt><dd>
<ul class="strategies">
% for text in one["behaves"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
</dd></div>
% end
<div><dt>Last run</dt><dd>
% if one["last"]:
% include("action_runs/state.tpl", run=one["last"])
% include("partials/time.tpl", at=one["last"]["created_at"])
% if one["last"]["reason"]:
<span class="muted">{{one["last"]["reason"]}}</span>
% end
% else:
none yet
% end
</dd></div>
</dl>
<p class="actions">
% for ending, label in (("/runs", "History"), ("/test", "Test"), ("", "Edit"), ("/delete", "Delete")):
<a href="{{url(path + ending)}}">{{label}}<span class="hidden"> {{one["name"]}} in {{one["project"]}}</span></a>
% end
</p>
</li>
