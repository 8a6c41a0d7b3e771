<ol class="steps">
% for step in steps:
<li {{"class=done" if step["is_done"] else ""}}>
% include("partials/icon.tpl", name="check" if step["is_done"] else "circle")
<span>{{step["label"]}}
% if step["is_done"]:
<span class="hidden">(done)</span>
% end
% if step["details"]:
<span class="muted">– <bdi>{{step["details"]}}</bdi></span>
% end
% if step["needs_admin"]:
<span class="muted">Ask an admin</span>
% end
</span>
% if step["path"]:
<a class="button {{"" if step["is_first"] else "quiet"}}" href="{{url(step["path"])}}">{{step["action"]}}<span class="hidden"> ({{step["label"]}})</span></a>
% end
</li>
% end
</ol>
