<li class="card alert-card">
<h2><span class="tag {{"waits" if card["kept_by"] else "broken"}}"><span aria-hidden="true">{{"‖" if card["kept_by"] else "✕"}}</span> {{"kept off" if card["kept_by"] else "alert"}}</span>
<bdi>{{card["title"]}}</bdi></h2>
<p class="muted">{{card["state"]}}\\
% if card["kept_by"]:
 · kept off by <bdi>{{card["kept_by"]}}</bdi>\\
% end
</p>
% if card["text"]:
<p><bdi>{{card["text"]}}</bdi></p>
% end
<p>{{card["verb"]}}
% for name, path in card["flags"]:
<a href="{{url(path)}}"><bdi>{{name}}</bdi></a>
% end
{{card["more"]}} in <bdi>{{card["places"]}}</bdi>
% include("partials/time.tpl", at=card["created_at"])
</p>
<div class="actions">
% if card["turn_on"]:
<a class="button quiet" href="{{url(card["run_path"], 'turn-on')}}" data-dialog>{{card["turn_on"]}}<span class="hidden"> ({{card["title"]}})</span></a>
% elif card["can_undo"]:
<a class="button quiet" href="{{url(card["run_path"], 'undo')}}" data-dialog>Undo …<span class="hidden"> ({{card["title"]}})</span></a>
% end
% if card["can_keep"]:
<form method="post" action="{{url(card["run_path"], 'keep-off')}}">
% include("partials/csrf.tpl")
<button class="quiet">Keep off<span class="hidden"> ({{card["title"]}})</span></button>
</form>
% end
<a href="{{url(card["run_path"])}}"><bdi>{{card["name"]}}</bdi></a>
% if identity.has_permission("ADMIN") and card["has_signal"]:
<a href="{{url('/admin/signals', card['endpoint_id'], 'log', card['signal_id'])}}">signal</a>
% end
</div>
</li>
