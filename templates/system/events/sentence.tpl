<span>\\
% if event["is_by_token"]:
<span class="badge">API token</span> \\
% end
<strong><bdi>{{event["created_by"]}}</bdi></strong> <bdi>\\
% for text, path in event["parts"]:
% if path:
<a href="{{url(path)}}">{{text}}</a>\\
% else:
{{text}}\\
% end
% end
</bdi></span>
