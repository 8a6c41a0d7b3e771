% include("signals/signals/words.tpl", status=summary.status, severity=summary.severity)
<span class="preview">
% for field in summary.fields:
<span class="part">\\
% if field.label:
<bdi>{{field.label}}</bdi>: \\
% end
<bdi class="value">{{field.text}}</bdi></span>
% end
</span>
