% name, is_on, answer, alert = environment["name"], environment["enabled"], environment["answer"], environment["alert"]
% release = environment["release"]
% is_archived = row["archived_at"] is not None
<section class="environment" id="in-{{name}}">
% include("actions/scheduled/card.tpl", scheduled=environment["scheduled"])
<div id="answer" data-live>
<div class="heading">
<h2 class="answer {{answer.style}}" data-announce="{{row["name"]}} in {{name}}: {{answer.text}}"><span aria-hidden="true">{{answer.glyph}}</span> <bdi>{{answer.text}}</bdi></h2>
% if can_edit and not is_archived:
<form method="post" id="switch" action="{{url(environment['path'], 'off' if is_on else 'on')}}" data-swap="in-{{name}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
<button role="switch" aria-checked="{{'true' if is_on else 'false'}}" aria-label="{{row['name']}} in {{name}}">{{"on" if is_on else "off"}}</button>
</form>
% elif not is_archived:
<span>{{"on" if is_on else "off"}}</span>
% end
</div>
% if is_archived and identity.has_permission("EDIT"):
<form method="post" action="{{url(path, 'revive')}}" class="actions">
% include("partials/csrf.tpl")
<button>Revive</button>
<a href="{{url(path, 'delete')}}">Delete permanently …</a>
</form>
% elif alert and not is_on:
% include("flags/features/alert.tpl", alert=alert)
% elif answer.offers_strategies:
<p>Never turned on</p>
% if can_edit:
<div class="actions"><strong>Who should get it?</strong>
% for text, rollout in (("Everyone", 100), ("10%", 10)):
<form method="post" action="{{url(environment["path"], "start", rollout)}}" data-swap="in-{{name}} events">
% include("partials/csrf.tpl")
<input type="hidden" name="usage" value="{{usage_query}}">
<button class="quiet">{{text}} …</button>
</form>
% end
<a class="button quiet" href="{{url(environment["release_form"])}}">In steps …</a></div>
% end
% elif environment["change"] and not (release and release["is_active"]):
<p class="muted">Turned {{"on" if is_on else "off"}} by <bdi>{{name_actor(environment["change"]["created_by"], environment["change"]["created_by_user_id"])}}</bdi>
% include("partials/time.tpl", at=environment["change"]["created_at"])
</p>
% end
% if answer.parent:
<p><a href="{{url(flag_path(answer.parent))}}">{{answer.parent}}</a></p>
% end
% if release:
% include("releases/panel.tpl", release=release)
% end
</div>
% include("flags/features/strategies.tpl")
% if removal and not is_archived:
<form method="post" class="actions" action="{{url(path, 'permanent')}}">
% include("partials/csrf.tpl")
<span class="answer waits"><span aria-hidden="true">▲</span> {{removal.reason[:1].upper() + removal.reason[1:]}}. Keep: {{removal.keep}}.</span>
% include("flags/features/task.tpl", name=row["name"], task=removal.task)
% if can_edit:
<button class="quiet">Mark permanent</button>
% end
</form>
% end
<section>
<div class="heading"><h2>Last {{dict(periods)[period]}}</h2>
<span class="muted">\\
% for key, label in periods:
<a href="?env={{name}}&amp;usage={{key}}" {{"aria-current=true" if key == period else ""}}>{{label}}</a> \\
% end
</span></div>
% if chart:
% include("flags/features/chart.tpl")
% else:
<p class="muted">No evaluations in {{dict(periods)[period]}}.</p>
% end
</section>
</section>
