% rebase("layout.tpl", title=title, live=False)
<div class="heading">
<h1>{{title}}</h1>
% if new:
<a class="button" href="{{url(new[1])}}">{{new[0]}}</a>
% end
</div>
% if hint:
<p class="hint">{{hint}}</p>
% end
% for table in tables:
% if table.title:
% include("partials/table_section.tpl")
% else:
% include("partials/table.tpl")
% end
% end
