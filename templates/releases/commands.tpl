<div class="actions commands">
% include("releases/turn_on.tpl", release=release)
% for command in release["commands"]:
% if command["is_direct"]:
<form method="post" action="{{url(command["path"])}}">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{release["back"]}}">
<button class="quiet">{{command["label"]}}<span class="hidden">: release of {{release["place"]}}</span></button>
</form>
% elif command["name"] != "stop" or release["state"] == "scheduled":
<a class="button {{"" if command["is_first"] else "quiet"}}" href="{{url(command["path"])}}{{command["query"]}}" data-dialog>{{command["label"]}}<span class="hidden"> release of {{release["place"]}}</span></a>
% end
% end
% if release["again"]:
<a class="button quiet" href="{{url(release["again"])}}">Start like this one …<span class="hidden"> (release of {{release["place"]}})</span></a>
% if release["state"] == "finished" and release["rollout"] == 100:
<a href="{{url(release["flag_path"])}}/archive">Archive the flag</a>
% end
% end
% if release["guards_form"]:
<details class="menu">
<summary aria-label="More for the release of {{release["place"]}}" title="More"><span aria-hidden="true">⋯</span></summary>
<p>
<a href="{{url(release["guards_form"])}}">Edit guards<span class="hidden"> of the release of {{release["place"]}}</span></a>
% for command in release["commands"]:
% if command["name"] == "stop" and release["state"] != "scheduled":
<a href="{{url(command["path"])}}{{command["query"]}}" data-dialog>{{command["label"]}}<span class="hidden"> release of {{release["place"]}}</span></a>
% end
% end
</p>
</details>
% end
% if release["back"]:
<a href="{{url(release["path"])}}">Open the release<span class="hidden"> of {{release["place"]}}</span></a>
% end
</div>
