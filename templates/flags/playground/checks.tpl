<ul class="checks">
% for check in checks:
<li><bdi>{{check.text}}</bdi>: <strong class="result {{check.result}}">{{check.result}}</strong>
% if check.note:
<span class="muted">{{check.note}}</span>
% end
% if check.checks:
% include("flags/playground/checks.tpl", checks=check.checks)
% end
</li>
% end
</ul>
