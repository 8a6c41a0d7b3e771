% if problems:
<div class="problem" role="alert" tabindex="-1">
% if len(problems) > 1:
<h2>Check the marked fields</h2>
% end
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
