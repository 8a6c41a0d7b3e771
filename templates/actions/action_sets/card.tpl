<li class="card" id="set-{{card['id']}}">
<div class="heading">
<h3><a href="{{url('/admin/projects', card['project'], 'actions', card['id'])}}"><bdi>{{card["name"]}}</bdi><span class="hidden"> in {{card["project"]}}</span></a></h3>
<form method="post" action="{{url('/admin/projects', card['project'], 'actions', card['id'], 'off' if card['enabled'] else 'on')}}">
% include("partials/csrf.tpl")
<button class="switch" role="switch" aria-checked="{{'true' if card['enabled'] else 'false'}}" aria-label="Action set {{card['name']}} in {{card['project']}}">{{"on" if card["enabled"] else "off"}}</button>
</form>
</div>
% if card["description"]:
<p>{{card["description"]}}</p>
% end
% if not card["armed"]:
<form method="post" action="{{url('/admin/projects', card['project'], 'actions', card['id'], 'arm')}}" class="inline">
% include("partials/csrf.tpl")
<span class="badge wrong">Has run once</span> It won't run again until you re-enable it.
<button class="quiet">Re-enable<span class="hidden"> {{card["name"]}} in {{card["project"]}}</span></button>
</form>
% end
<dl class="lines">
<div><dt>Trigger</dt><dd>
% if card["schedule_text"]:
{{card["schedule_text"]}}
% if card["is_done"]:
<span class="badge">done</span>
% elif card["enabled"] and card["due_at"]:
<span class="muted">next \\
% include("partials/time.tpl", at=card["due_at"])
</span>
% end
% elif card["source"]:
<a href="{{url('/admin/signals', card['source_id'], 'log')}}">{{card["source"]}}</a> receives {{"a signal where" if card["filter_texts"] else "any signal"}}
% else:
<span class="badge wrong">No signal endpoint</span> The endpoint was deleted.
% end
% if card["filter_texts"]:
<ul class="strategies">
% for text in card["filter_texts"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
% end
</dd></div>
<div><dt>Actions</dt><dd>
<ol class="strategies">
% for text in card["action_texts"]:
<li><bdi>{{text}}</bdi></li>
% end
</ol>
</dd></div>
<div><dt>Run as</dt><dd>
% if card["account"]:
<a href="{{url('/admin/service-accounts', card['actor_id'])}}"><bdi>{{card["account"]["username"]}}</bdi></a>
% if card["account"]["role"] == "Viewer":
<span class="badge wrong">Viewer</span> It can't change flags.
% end
% else:
<span class="badge wrong">No service account</span> Runs fail until you choose one.
% end
</dd></div>
% if card["option_texts"]:
<div><dt>Options</dt><dd>
<ul class="strategies">
% for text in card["option_texts"]:
<li><bdi>{{text}}</bdi></li>
% end
</ul>
</dd></div>
% end
<div><dt>Last run</dt><dd>
% if card["last_run"]:
% include("actions/action_runs/state.tpl", run=card["last_run"])
% include("partials/time.tpl", at=card["last_run"]["created_at"])
% if card["last_run"]["reason"]:
<span class="muted">{{card["last_run"]["reason"]}}</span>
% end
% else:
Never
% end
</dd></div>
</dl>
<p class="actions">
<a href="{{url('/admin/projects', card['project'], 'actions', card['id'], 'runs')}}">History<span class="hidden"> {{card["name"]}} in {{card["project"]}}</span></a>
<a href="{{url('/admin/projects', card['project'], 'actions', card['id'], 'test')}}">Test<span class="hidden"> {{card["name"]}} in {{card["project"]}}</span></a>
<a href="{{url('/admin/projects', card['project'], 'actions', card['id'])}}">Edit<span class="hidden"> {{card["name"]}} in {{card["project"]}}</span></a>
<a href="{{url('/admin/projects', card['project'], 'actions', card['id'], 'delete')}}">Delete<span class="hidden"> {{card["name"]}} in {{card["project"]}}</span></a>
</p>
</li>
