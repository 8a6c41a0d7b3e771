% rebase("layout.tpl", title=title, live=False)
<p><a href="{{url('/admin/actions')}}">Actions of all projects</a></p>
<div class="heading">
<h1>Actions of <bdi>{{project}}</bdi></h1>
% if len(sets) < limit:
<a class="button" href="{{url('/admin/projects/%s/actions/new' % project)}}">New action set</a>
% end
</div>
<p class="hint">{{len(sets)}} of at most {{limit}}. A set switches flags of this project when a signal arrives.{{" Delete one to make room for another." if len(sets) >= limit else ""}}</p>
% if not sets:
% include("actions/action_sets/about.tpl")
% else:
<h2 class="hidden">Action sets</h2>
<ul class="cards">
% for one in sets:
% include("actions/action_sets/card.tpl", item=one)
% end
</ul>
% end
