<span>\\
% if event["is_by_token"] and not event["has_subject"]:
<span class="tag">API token</span> \\
% end
% if not event["has_subject"]:
<strong><bdi>{{event["created_by"]}}</bdi></strong> \\
% end
<bdi>\\
% for text, path in event["parts"]:
% if path:
<a href="{{url(path)}}">{{text}}</a>\\
% else:
{{text}}\\
% end
% end
</bdi></span>
