% if summary.status:
<span class="chip {{'wrong' if summary.status == 'firing' else ''}}">{{summary.status}}</span>
% end
% if summary.severity:
<span class="chip">{{summary.severity}}</span>
% end
