<div class="proposal">
<input type="checkbox" id="proposed.{{number}}" name="proposed.{{number}}" value="{{guard["text"]}}" {{"checked" if guard["is_ticked"] else ""}}>
<label for="proposed.{{number}}" title="{{guard["name"]}}"><bdi>{{guard["name"]}}</bdi></label>
<span title="{{guard["reason"]}}">{{guard["now"]}}</span>
<span class="muted">{{guard["breaks"]}}</span>
% if guard["chart"]:
% include("releases/guard_chart.tpl", chart=guard["chart"], label=guard["breaks"])
% end
</div>
