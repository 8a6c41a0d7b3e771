<div class="actions commands">
% if release["again"]:
<a class="button quiet" href="{{url(release["again"])}}">Start like this one …<span class="hidden"> (release {{release["id"]}})</span></a>
% end
% for command in release["commands"]:
% if command["is_direct"]:
<form method="post" action="{{url(command["path"])}}">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{release["back"]}}">
<button class="{{"" if command["is_first"] else "quiet"}}">{{command["label"]}}<span class="hidden">: release {{release["id"]}}</span></button>
</form>
% else:
<a class="button {{"" if command["is_first"] else "quiet"}}" href="{{url(command["path"])}}{{command["query"]}}" data-dialog>{{command["label"]}}<span class="hidden"> release {{release["id"]}}</span></a>
% end
% end
% if release["back"] or release["guards_form"]:
<span class="links">
% if release["back"]:
<a href="{{url(release["path"])}}">Details<span class="hidden"> of release {{release["id"]}}</span></a>
% end
% if release["back"] and release["guards_form"]:
·
% end
% if release["guards_form"]:
<a href="{{url(release["guards_form"])}}">Edit guards<span class="hidden"> of release {{release["id"]}}</span></a>
% end
</span>
% end
</div>
