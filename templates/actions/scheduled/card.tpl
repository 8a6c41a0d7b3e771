% if scheduled:
<ul class="rows scheduled">
% for item in scheduled:
<li>
<span><span aria-hidden="true">◷</span> \\
% include("partials/time.tpl", at=item["due_at"])
: <bdi>{{", ".join(item["action_texts"])}}</bdi>{{"" if item["is_once"] else " · " + item["schedule_text"]}}\\
% if item["creator"]:
 · by <bdi>{{item["creator"]}}</bdi>\\
% end
</span>
% if item["conflict"]:
<span class="problem">conflicts: release {{item["conflict"]["id"]}} moves it\\
% if item["conflict"]["until"]:
 until
% include("partials/time.tpl", at=item["conflict"]["until"])
% end
</span>
% end
% if identity.has_permission("EDIT" if item["is_once"] else "ADMIN"):
% set_path = url("/admin/projects", item["project"], "actions", item["id"])
% if item["is_once"]:
<form method="post" action="{{set_path}}/now" class="inline">
% include("partials/csrf.tpl")
<input type="hidden" name="flag" value="{{row["name"]}}">
<button class="quiet">Do it now<span class="hidden">: {{item["name"]}}</span></button>
</form>
% end
<a href="{{set_path}}/delete">Cancel<span class="hidden">: {{item["name"]}}</span></a>
% end
</li>
% end
</ul>
% end
