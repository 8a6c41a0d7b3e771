% if summary.status:
<span class="badge {{'wrong' if summary.status == 'firing' else ''}}">{{summary.status}}</span>
% end
% if summary.severity:
<span class="badge">{{summary.severity}}</span>
% end
