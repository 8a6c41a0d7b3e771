<ul class="checks">
% for check in checks:
<li><bdi>{{check.text}}</bdi>: <strong class="tag {{"gets" if check.result == "yes" else "off"}}">{{check.result}}</strong>
% if check.note:
<span class="muted">{{check.note}}</span>
% end
% if check.checks:
% include("flags/playground/checks.tpl", checks=check.checks)
% end
</li>
% end
</ul>
