<ul class="checks">
% for check in checks:
<li><bdi>{{check.text}}</bdi>: <strong class="result {{check.verdict}}">{{check.verdict}}</strong>
% if check.note:
<span class="muted">{{check.note}}</span>
% end
% if check.inner:
% include("flags/playground/checks.tpl", checks=check.inner)
% end
</li>
% end
</ul>
