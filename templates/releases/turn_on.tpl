% if release["switch_path"]:
<form method="post" action="{{url(release["switch_path"])}}">
% include("partials/csrf.tpl")
<button class="{{"quiet" if release["back"] else ""}}">Turn on …<span class="hidden"> {{release["place"]}}</span></button>
</form>
% end
