<span>\\
% if event["is_by_token"] and not event["has_subject"]:
<span class="tag">API token</span> \\
% end
% if not event["has_subject"]:
% if event.get("author_query"):
<a href="?{{event["author_query"]}}"><span class="hidden">only </span><bdi>{{event["created_by"]}}</bdi></a> \\
% else:
<strong><bdi>{{event["created_by"]}}</bdi></strong> \\
% end
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
