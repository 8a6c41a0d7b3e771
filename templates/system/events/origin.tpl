% if event["release_path"]:
<a href="{{url(event['release_path'])}}">release {{event["release_path"].rpartition("/")[2]}}</a>
% end
% if event["run"]:
<a href="{{url('/admin/projects', event['project'], 'actions', event['run']['actionSetId'], 'runs', event['run']['id'])}}">run {{event["run"]["id"]}} of <bdi>{{event["run"]["actionSet"]}}</bdi></a>
% if "signalId" in event["run"] and identity.has_permission("ADMIN"):
<a href="{{url('/admin/signals', event['run']['signalEndpointId'], 'log', event['run']['signalId'])}}">signal {{event["run"]["signalId"]}}</a>
% end
% end
