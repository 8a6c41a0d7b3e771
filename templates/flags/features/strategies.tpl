<section class="who">
<h2>{{"Who gets it" if is_on else "Who gets it when it is on"}}</h2>
% if environment["strategies"]:
<ol class="strategies">
% for strategy in environment["strategies"]:
% include("flags/features/strategy.tpl", environment=environment, strategy=strategy)
% end
</ol>
% elif is_on:
<p>Everyone</p>
% end
% if not is_on and not environment["hasEnabledStrategies"]:
<p class="muted">\\
% if environment["strategies"]:
No strategy is active. \\
% end
Turning it on adds the default strategy: <bdi>{{environment["default"]}}</bdi></p>
% end
% if environment["variants"]:
<p>Environment variants (legacy): <bdi>{{environment["variants"]}}</bdi></p>
% end
<div class="heading">
% if can_edit:
<p class="actions">
<a href="{{url(environment["path"], 'strategies', 'new')}}">Add strategy<span class="hidden"> in {{name}}</span></a>
% if not (release and release["is_active"]):
<a href="{{url(environment["release_form"])}}">Release in steps<span class="hidden"> in {{name}}</span></a>
% end
<a href="{{url(path, 'schedule')}}?environment={{name}}">Plan a change<span class="hidden"> in {{name}}</span></a>
</p>
% end
% if not is_archived:
<form method="get" action="{{url(flag_path(row["name"]))}}#why" class="inline">
<input type="hidden" name="env" value="{{name}}">
<label for="user">User</label> <input id="user" name="user" value="{{user}}" maxlength="500" size="12" required>
% for field in reason.missing if reason else ():
<label for="context.{{field}}">{{field}}</label> <input id="context.{{field}}" name="context.{{field}}" value="{{user_fields.get(field, "")}}" maxlength="500" size="12">
% end
% for field, text in user_fields.items():
% if not reason or field not in reason.missing:
<input type="hidden" name="context.{{field}}" value="{{text}}">
% end
% end
<button class="quiet">Why?</button>
<a href="{{url("/admin/playground")}}?flag={{row["name"]}}&amp;environment={{name}}&amp;userId={{user}}">Playground<span class="hidden">: {{row["name"]}} in {{name}}</span></a>
</form>
% end
</div>
% if user:
<p id="why" role="status"><bdi>{{reason.sentence if reason else "Applications don't get this flag."}}</bdi></p>
% end
</section>
