<span><strong><bdi>{{event["created_by"]}}</bdi></strong> <bdi>{{event["sentence"]}}</bdi></span>
