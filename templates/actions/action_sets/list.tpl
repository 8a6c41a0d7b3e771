% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/actions')}}">Actions of all projects</a></p>
<div class="heading">
<h1>Actions of <bdi>{{project}}</bdi></h1>
% if len(cards) < limit:
<a class="button" href="{{url('/admin/projects', project, 'actions', 'new')}}">New action set</a>
% end
</div>
<p class="hint">{{len(cards)}} of {{limit}} action sets. Change flags of this project automatically when a signal matches.{{" Delete one to create another." if len(cards) >= limit else ""}}</p>
% if not cards:
% include("actions/action_sets/empty.tpl")
% else:
<h2 class="hidden">Action sets</h2>
<ul class="cards">
% for card in cards:
% include("actions/action_sets/card.tpl", card=card)
% end
</ul>
% end
