% if find_web_url(text):
<a href="{{text}}" rel="noreferrer"><bdi>{{text}}</bdi> ↗</a>\\
% else:
<bdi>{{text or '""'}}</bdi>\\
% end
