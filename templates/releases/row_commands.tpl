% include("releases/turn_on.tpl", release=release)
% for command in release["row_commands"]:
% if command["is_direct"]:
<form method="post" action="{{url(command["path"])}}">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{release["back"]}}">
<button class="quiet">{{command["label"]}}<span class="hidden">: release of {{release["place"]}}</span></button>
</form>
% else:
<a class="button quiet" href="{{url(command["path"])}}{{command["query"]}}" data-dialog>{{command["label"]}}<span class="hidden"> release of {{release["place"]}}</span></a>
% end
% end
