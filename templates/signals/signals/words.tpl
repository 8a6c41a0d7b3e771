% if status:
<span class="tag {{'broken' if status == 'firing' else ''}}">{{status}}</span>
% end
% if severity:
<span class="tag">{{severity}}</span>
% end
