% if status:
<span class="chip {{'wrong' if status == 'firing' else ''}}">{{status}}</span>
% end
% if severity:
<span class="chip">{{severity}}</span>
% end
