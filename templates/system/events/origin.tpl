% if event["release_path"]:
<a href="{{url(event['release_path'])}}">release {{event["release_path"].rpartition("/")[2]}}</a>
% end
% run = event["run"]
% if event["run_path"]:
<a href="{{url(event['run_path'])}}">run {{run["id"]}}{{" of " if run["actionSet"] else ""}}<bdi>{{run["actionSet"]}}</bdi></a>
% elif run:
<span class="muted">run {{run["id"]}}{{" of " if run["actionSet"] else ""}}<bdi>{{run["actionSet"]}}</bdi></span>
% end
% if event["signal_path"] and identity.has_permission("ADMIN"):
<a href="{{url(event['signal_path'])}}">signal {{run["signalId"]}}</a>
% end
