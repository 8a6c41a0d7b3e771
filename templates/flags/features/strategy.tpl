<li class="strategy">
<div class="summary">
% if strategy["title"]:
<strong><bdi>{{strategy["title"]}}</bdi></strong>
% end
% if strategy["disabled"]:
<span class="tag off">disabled</span>
% end
<bdi class="users">{{strategy["sentence"]}}</bdi>
% if strategy["variant_text"]:
<span class="muted"><bdi>{{strategy["variant_text"]}}</bdi></span>
% end
</div>
% if can_edit:
<div class="actions">
% if not strategy["is_moving"]:
<a href="{{url(strategy['path'])}}">Edit<span class="hidden"> {{strategy["label"]}}</span></a>
% end
<details class="menu">
<summary aria-label="More for {{strategy['label']}}" title="More"><span aria-hidden="true">⋯</span></summary>
<div>
% if not (strategy["is_first"] and strategy["is_last"]):
<form method="post" action="{{url(strategy['path'], 'move')}}" data-swap="in-{{environment["name"]}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
% if not strategy["is_first"]:
<button name="to" value="up">Move up<span class="hidden">: {{strategy["label"]}}</span></button>
% end
% if not strategy["is_last"]:
<button name="to" value="down">Move down<span class="hidden">: {{strategy["label"]}}</span></button>
% end
</form>
% end
<form method="post" action="{{url(strategy['path'], 'on' if strategy['disabled'] else 'off')}}" data-swap="in-{{environment["name"]}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
<button>{{"Enable" if strategy["disabled"] else "Disable"}}<span class="hidden"> {{strategy["label"]}}</span></button>
</form>
% if strategy["copies"]:
<form method="post" action="{{url(strategy['path'], 'copy')}}" data-swap="in-{{environment["name"]}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
% for other in strategy["copies"]:
<button name="environment" value="{{other}}">Copy to {{other}}<span class="hidden">: {{strategy["label"]}}</span></button>
% end
</form>
% end
<a href="{{url(strategy['path'], 'delete')}}">Remove<span class="hidden"> {{strategy["label"]}}</span> …</a>
</div>
</details>
</div>
% end
</li>
