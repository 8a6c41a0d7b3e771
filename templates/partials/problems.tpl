% if problems:
<div class="problem" role="alert" tabindex="-1">
<h2>{{"Check the highlighted fields" if problems[0].get("path") else "There is a problem"}}</h2>
<ul>
% for problem in problems:
% if problem.get("path"):
<li><a href="#{{problem['path']}}">{{problem["message"]}}</a></li>
% else:
<li>{{problem["message"]}}</li>
% end
% end
</ul>
</div>
% end
