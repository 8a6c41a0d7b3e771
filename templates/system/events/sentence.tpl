<span>\\
% if event["is_by_token"]:
<span class="badge">API token</span> \\
% end
<strong><bdi>{{event["created_by"]}}</bdi></strong> <bdi>{{event["sentence"]}}</bdi></span>
