<section id="{{table.id}}">
<div class="heading">
<h2>{{table.title}}</h2>
% if table.new:
<a class="button quiet" href="{{url(table.new[1])}}">{{table.new[0]}}</a>
% end
</div>
% if table.hint:
<p class="hint">{{table.hint}}</p>
% end
% include("partials/table.tpl")
</section>
