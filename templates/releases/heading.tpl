<h1><bdi>{{heading}}</bdi> <span class="tag {{release["style"]}}"><span aria-hidden="true">{{release["icon"]}}</span> {{release["word"]}}</span></h1>
% include("partials/tabs.tpl", name="Release")
