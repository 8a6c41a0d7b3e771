<details class="projects">
% for project in projects:
% if project["is_current"]:
<summary><bdi title="{{project["name"]}}">{{project["name"]}}</bdi></summary>
% end
% end
<form method="post" action="{{url('/project')}}">
% include("partials/csrf.tpl")
<input type="hidden" name="back" value="{{own_path}}">
% for project in projects:
<button class="quiet" name="project" value="{{project["id"]}}" {{"aria-current=true" if project["is_current"] else ""}}><bdi>{{project["name"]}}</bdi></button>
% end
</form>
</details>
