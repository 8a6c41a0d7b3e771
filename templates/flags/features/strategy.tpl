<li class="strategy">
<div class="summary">
% if strategy["title"]:
<strong><bdi>{{strategy["title"]}}</bdi></strong>
% end
% if strategy["disabled"]:
<span class="badge">Disabled</span>
% end
% for index, chip in enumerate(strategy["chips"]):
<span class="hidden">{{"· " if index else ""}}</span><bdi class="chip">{{chip}}</bdi>
% end
</div>
% if can_edit:
<div class="actions">
% if not (strategy["is_first"] and strategy["is_last"]):
<form method="post" action="{{url(strategy['path'], 'move')}}" data-swap="environments events">
% include("partials/csrf.tpl")
% if not strategy["is_first"]:
<button class="quiet" name="to" value="up" aria-label="Move {{strategy['label']}} up">↑</button>
% end
% if not strategy["is_last"]:
<button class="quiet" name="to" value="down" aria-label="Move {{strategy['label']}} down">↓</button>
% end
</form>
% end
% if strategy["release"]:
<a href="{{url(strategy['release']['path'])}}">moved by release {{strategy["release"]["id"]}}</a>
% else:
<a href="{{url(strategy['path'])}}">Edit<span class="hidden"> {{strategy["label"]}}</span></a>
% end
<form method="post" action="{{url(strategy['path'], 'on' if strategy['disabled'] else 'off')}}" data-swap="environments events">
% include("partials/csrf.tpl")
<button class="quiet">{{"Enable" if strategy["disabled"] else "Disable"}}<span class="hidden"> {{strategy["label"]}}</span></button>
</form>
% if environment["others"]:
<details>
<summary>Copy to…<span class="hidden"> another environment: {{strategy["label"]}}</span></summary>
<form method="post" action="{{url(strategy['path'], 'copy')}}" data-swap="environments events">
% include("partials/csrf.tpl")
% for other in environment["others"]:
<button class="quiet" name="environment" value="{{other}}">{{other}}<span class="hidden">: copy {{strategy["label"]}}</span></button>
% end
</form>
</details>
% end
<a href="{{url(strategy['path'], 'delete')}}">Remove<span class="hidden"> {{strategy["label"]}}</span></a>
</div>
% end
</li>
